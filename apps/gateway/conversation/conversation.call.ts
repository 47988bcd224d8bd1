import type { CatalogCache } from '#catalog/catalog.cache.js';
import type { Channel } from '#catalog/catalog.js';
import type { Caller } from '#identity/key-authenticator.js';
import type { StreamAnswer, StreamKind, StreamOutcome, StreamRequest } from '#upstream/outcomes.js';
import type { ServingParts } from '../charging/charged-call.js';
import type { Hold } from '../charging/charge.service.js';
import type { ChannelEntry } from '../charging/channel-entry.js';
import type { ResolutionPost } from '../charging/resolution.post.js';
import type { Body } from '../http/fields.js';
import type { PreparedImage, StreamedImage } from '../images/image-stream.js';
import type { ImageReader } from '../images/image.reader.js';
import type { ModelTurns } from '../routing/model-turns.js';
import type { SoundFile } from '../transcriptions/sound-file.js';
import type { Estimated } from './conversation.delivery.js';

export interface ConversationCall {
  caller: Caller;
  kind: StreamKind;
  body: Body;
  /** The audio, for transcriptions and translations only. */
  sound?: SoundFile;
  /** Of an image that is streamed. */
  image?: StreamedImage;
  headers: StreamRequest['headers'];
  requestId: string;
}

/** The same for one of its models. */
export interface ModelCall extends ConversationCall {
  turns: Pick<ModelTurns, 'limitAtMs' | 'nextChargeId' | 'headersFor' | 'noteLimits'>;
  /** Reads the images of the request, once for all its models. @throws ApiError */
  checkImages: () => Promise<void>;
}

/** A permitted call, with the channels that can do it. */
export interface Prepared extends ModelCall, Estimated {
  channels: readonly Channel[];
  limitAtMs: number;
  madeOf?: PreparedImage;
}

/** A call with a hold. */
export interface Held extends Prepared {
  hold: Hold;
  entry: ChannelEntry;
  startedAt: number;
  /** Aborts the upstream call, at the time limit or when the client has left. */
  stop: AbortSignal;
}

/** Why there is no answer, and from which channel. */
export type ConversationFailure = Exclude<StreamOutcome, StreamAnswer> & { channel: string | null };
/** `model`: the vendor's name of the model. */
export type Opened = StreamAnswer & { channel: string; model: string };

export interface ConversationParts extends ServingParts {
  catalog: CatalogCache;
  reader: ImageReader;
  post: ResolutionPost;
}
