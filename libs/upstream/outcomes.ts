import type { Readable } from 'node:stream';
import type { ErrorCode } from '#platform/errors.js';
import type { TokenCounts } from '#pricing/token-kinds.js';

/**
 * What became of a call to an upstream, as far as money is concerned. Only
 * `not_accepted` permits another channel; `unknown` never does, since the upstream may be working already.
 */

/** The upstream refused for a reason that lies in the caller's request; the message may be shown to the caller. */
export interface Refused {
  kind: 'refused';
  /** The status for the caller. */
  status: 400 | 415 | 422;
  code: ErrorCode;
  message: string;
  /** The upstream's own code, such as `context_length_exceeded`, where it gave one. */
  upstreamCode?: string;
  /** Null where the protocol refuses it unasked. */
  upstreamStatus: number | null;
}

/** Provably not taken: it never reached a connection, or was turned away for a reason that is ours. */
export interface NotAccepted {
  kind: 'not_accepted';
  /** For the operator's log, never for the caller. */
  reason: string;
  upstreamStatus: number | null;
}

/** The upstream may or may not have taken the work. */
export interface Unknown {
  kind: 'unknown';
  /** For the operator's log, never for the caller. */
  reason: string;
  upstreamStatus: number | null;
}

/** An image as the upstream handed it over: exactly one of `b64` (without a data: prefix) and `url`. */
export interface UpstreamImage {
  b64?: string;
  url?: string;
  revisedPrompt?: string;
  mimeType?: string;
}

/** At least one image and at most as many as were asked for. */
export interface ImagesDelivered {
  kind: 'delivered';
  images: UpstreamImage[];
  upstreamStatus: number;
  /** Where the vendor reports it. */
  tokens?: TokenCounts | undefined;
}

export type ImageOutcome = ImagesDelivered | Refused | NotAccepted | Unknown;

export interface Accepted {
  kind: 'accepted';
  upstreamId: string;
  upstreamStatus: number;
}

export type CreateOutcome = Accepted | Refused | NotAccepted | Unknown;

/** Only `completed` and `failed` end a task; whatever is not understood is `no_answer` and asked again. */
export type PollOutcome =
  | { kind: 'running'; progress: number | null }
  | { kind: 'completed'; fileUrl: string }
  | { kind: 'failed'; code: ErrorCode; message: string }
  | {
      kind: 'no_answer';
      reason: string;
      /** What it speaks against: the whole channel, or nothing but this task. */
      of: 'channel' | 'task';
      /** How long the vendor asks to be left alone. */
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
  /** Further fields passed through as they are; the named ones win. */
  extras?: Record<string, unknown>;
}

export interface VideoRequest {
  /** The upstream's name of the model. */
  model: string;
  prompt: string;
  /** Whole seconds, always sent. */
  seconds: number;
  /** As the client sent it, for vendors that take sizes; shape and resolution say what counts. */
  size?: string;
  aspectRatio?: string;
  resolution?: string;
  /** With or without sound. False goes only to protocols that make silent videos. */
  audio?: boolean;
  /** The upstream's id of a video of its own: what is made is that one again, as the prompt says. */
  remixOf?: string;
}

/** A video that is made again from an earlier one; everything but the prompt is as it was. */
export interface RemixRequest {
  /** The upstream's id of the earlier one. */
  remixOf: string;
  prompt: string;
}

/** An image that a call hands over. */
export interface InputImage {
  bytes: Buffer;
  /** Its real type, as sniffed: `image/png`, `image/jpeg`, `image/webp`. */
  mime: string;
  /** A file name without a path. */
  name: string;
}

/** An edit of one or more images; answered as `ImageOutcome`. */
export interface ImageEditRequest extends ImageRequest {
  /** At least one. */
  images: readonly InputImage[];
  /** Where the first image may change. */
  mask?: InputImage;
}

/** Calls whose body and answer pass through as they are. */
export type StreamKind = TalkKind | HearingKind | ImageStreamKind | 'contents' | 'speech' | 'embeddings';
/** Images that are sent while they are made. */
export type ImageStreamKind = 'imageStream' | 'editStream';
/** Those that are written: text, vectors and sound. */
export type WrittenKind = Exclude<StreamKind, ImageStreamKind>;
/** Of them, conversations whose messages and parts say their type; Google's contents do not. */
export type TalkKind = 'chat' | 'responses' | 'messages';
/** Calls that turn sound into text; they are forms with a file. */
export type HearingKind = 'transcription' | 'translation';

/** A file that a form hands over, in the pieces that it came in. */
export interface SentFile {
  readonly pieces: readonly Buffer[];
  /** Its real type, as sniffed. */
  readonly mime: string;
  /** A file name without a path. */
  readonly name: string;
}

export interface StreamRequest {
  kind: StreamKind;
  /** The upstream's name of the model; it replaces the one in `body`. */
  model: string;
  /** The client's body, checked by the caller only where it has to be. */
  body: Record<string, unknown>;
  /** Makes the call a form with this file beside the fields. */
  file?: SentFile | undefined;
  /** The same with images: of an edit. */
  pictures?: Pick<ImageEditRequest, 'images' | 'mask'> | undefined;
  /** The client's headers; only those that the protocol declares go along, such as `anthropic-beta`. */
  headers?: Readonly<Record<string, string | string[] | undefined>>;
}

/**
 * The head of a success; the body follows unread and unbuffered, as SSE or whole. It ends with an error when the
 * connection breaks, falls silent, or the call is given up. Destroying it cancels the upstream at once; a caller who gets
 * one must read or destroy it.
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

/** `tokens`: of all that is sent, as the vendor counts. */
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
  /** The upstream's id of the draft: for a texture. */
  draftId?: string;
  format?: string;
  pbr?: boolean;
  faceLimit?: number;
  seed?: number;
}
