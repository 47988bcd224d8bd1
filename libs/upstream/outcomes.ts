import type { Readable } from 'node:stream';
import type { ErrorCode } from '#platform/errors.js';
import type { TokenCounts } from '#pricing/token-kinds.js';

/**
 * The outcome of a call to an upstream, for billing. Only `not_accepted` permits another channel. `unknown` never does,
 * because the upstream may already be working.
 */

/** The upstream refused because of the caller's request. The message may be shown to the caller. */
export interface Refused {
  kind: 'refused';
  /** The status for the caller. */
  status: 400 | 415 | 422;
  code: ErrorCode;
  message: string;
  /** Null if the protocol refuses it without asking. */
  upstreamStatus: number | null;
}

/** Provably not accepted: it never reached a connection, or was refused for a reason of ours. */
export interface NotAccepted {
  kind: 'not_accepted';
  /** For the operator's log, never for the caller. */
  reason: string;
  upstreamStatus: number | null;
}

/** The upstream may or may not have accepted the work. */
export interface Unknown {
  kind: 'unknown';
  /** For the operator's log, never for the caller. */
  reason: string;
  upstreamStatus: number | null;
}

/** A delivered image: exactly one of `b64` (without a data: prefix) and `url`. */
export interface UpstreamImage {
  b64?: string;
  url?: string;
  revisedPrompt?: string;
  mimeType?: string;
}

/** At least one image, and at most as many as requested. */
export interface ImagesDelivered {
  kind: 'delivered';
  images: UpstreamImage[];
  upstreamStatus: number;
  /** If the vendor reports it: the tokens of all `images` of its answer, which may include withheld or surplus ones. */
  usage?: { tokens: TokenCounts; images: number } | undefined;
}

export type ImageOutcome = ImagesDelivered | Refused | NotAccepted | Unknown;

export interface Accepted {
  kind: 'accepted';
  upstreamId: string;
  upstreamStatus: number;
}

export type CreateOutcome = Accepted | Refused | NotAccepted | Unknown;

/** Only `completed` and `failed` end a task. Anything unclear is `no_answer` and polled again. */
export type PollOutcome =
  | { kind: 'running'; progress: number | null }
  | { kind: 'completed'; fileUrl: string }
  | { kind: 'failed'; code: ErrorCode; message: string }
  | {
      kind: 'no_answer';
      reason: string;
      /** What failed: the whole channel, or only this task. */
      of: 'channel' | 'task';
      /** How long the vendor asks us to wait. */
      retryAfterMs?: number | undefined;
    };

export interface ImageRequest {
  /** The upstream's name of the model. */
  model: string;
  prompt: string;
  n: number;
  /** As the client sent it, `<width>x<height>` or `auto`. */
  size?: string;
  aspectRatio?: string;
  resolution?: string;
  responseFormat: 'url' | 'b64_json';
  /** More fields, passed on unchanged. The named ones take precedence. */
  extras?: Record<string, unknown>;
}

export interface VideoRequest {
  /** The upstream's name of the model. */
  model: string;
  prompt: string;
  /** Whole seconds, always sent. */
  seconds: number;
  /** As the client sent it, for vendors with sizes. Shape and resolution are what counts. */
  size?: string;
  aspectRatio?: string;
  resolution?: string;
  /** With or without sound. False is only sent to protocols that make silent videos. */
  audio?: boolean;
  /** The upstream's id of one of its own videos, which is made again as the prompt says. */
  remixOf?: string;
}

/** A video that is made again from an earlier one. Everything but the prompt stays the same. */
export interface RemixRequest {
  /** The upstream's id of the earlier one. */
  remixOf: string;
  prompt: string;
}

export interface InputImage {
  bytes: Buffer;
  /** Its actual type, as sniffed: `image/png`, `image/jpeg`, `image/webp`. */
  mime: string;
  /** A file name without a path. */
  name: string;
}

/** An edit of one or more images. The answer is an `ImageOutcome`. */
export interface ImageEditRequest extends ImageRequest {
  /** At least one. */
  images: readonly InputImage[];
  /** Where the first image may change. */
  mask?: InputImage;
}

/** Calls whose body and answer are passed through unchanged. */
export type StreamKind = TalkKind | HearingKind | ImageStreamKind | 'contents' | 'speech' | 'embeddings';
export type ImageStreamKind = 'imageStream' | 'editStream';
/** Calls with text, vectors or sound. */
export type WrittenKind = Exclude<StreamKind, ImageStreamKind>;
/** Of these, conversations whose messages and parts have a type, unlike Google's contents. */
export type TalkKind = 'chat' | 'responses' | 'messages';
/** Calls that turn sound into text. They are forms with a file. */
export type HearingKind = 'transcription' | 'translation';

/** A file of a form, in the pieces in which it arrived. */
export interface SentFile {
  readonly pieces: readonly Buffer[];
  /** Its actual type, as sniffed. */
  readonly mime: string;
  /** A file name without a path. */
  readonly name: string;
}

export interface StreamRequest {
  kind: StreamKind;
  /** The upstream's name of the model. It replaces the one in `body`. */
  model: string;
  /** The client's body, checked by the caller only where necessary. */
  body: Record<string, unknown>;
  /** Makes the call a form with this file and the fields. */
  file?: SentFile | undefined;
  /** The same with the images of an edit. */
  pictures?: Pick<ImageEditRequest, 'images' | 'mask'> | undefined;
  /** The client's headers. Only those that the protocol declares are passed on, such as `anthropic-beta`. */
  headers?: Readonly<Record<string, string | string[] | undefined>>;
}

/**
 * The head of a success. The body follows unread and unbuffered, as SSE or whole. It ends with an error if the
 * connection breaks, is silent for too long, or the call is abandoned. Destroying it cancels the upstream at once. A
 * caller who receives one must read or destroy it.
 */
export interface StreamAnswer {
  kind: 'answer';
  status: number;
  contentType: string;
  body: Readable;
}

export type StreamOutcome = StreamAnswer | Refused | NotAccepted | Unknown;

/** The calls whose input a vendor counts without answering it. */
export type CountedKind = 'messages' | 'contents';

/** A message, or contents, whose tokens are counted. */
export interface CountRequest extends StreamRequest {
  kind: CountedKind;
}

/** `tokens`: everything that is sent, as the vendor counts. */
interface Counted {
  kind: 'counted';
  tokens: number;
}

export type CountOutcome = Counted | Refused | NotAccepted | Unknown;

/** A 3D asset: a draft from a text or images, or the texture of a finished draft. */
export interface AssetRequest {
  /** The upstream's name of the model. */
  model: string;
  mode: 'draft' | 'texture';
  prompt?: string;
  /** One image, or front, left, back and right. */
  images?: readonly InputImage[];
  /** The upstream's id of the draft, for a texture. */
  draftId?: string;
  format?: string;
  pbr?: boolean;
  faceLimit?: number;
  seed?: number;
}
