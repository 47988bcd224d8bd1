import type { ErrorCode } from '#platform/errors.js';

/**
 * What became of a call to an upstream, as far as money is concerned (design.md 4, "Accepted or not"). Only
 * `not_accepted` permits another channel; `unknown` never does, since the upstream may be working already.
 */

/** The upstream refused for a reason that lies in the caller's request; the message may be shown to the caller. */
export interface Refused {
  kind: 'refused';
  /** The status for the caller. */
  status: 400 | 415 | 422;
  code: ErrorCode;
  message: string;
  upstreamStatus: number;
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
  | { kind: 'no_answer'; reason: string };

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
  aspectRatio?: string;
  resolution?: string;
}
