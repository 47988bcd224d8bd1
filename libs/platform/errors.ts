/**
 * Every refusal that a client can receive, in one table: code, HTTP status, type. The HTTP layer formats it for the
 * protocol family. Nothing else in the programs decides a status.
 */
const REQUEST = 'invalid_request_error';

export const errorTable = {
  invalid_api_key: { status: 401, type: REQUEST },
  model_not_found: { status: 404, type: REQUEST },
  insufficient_user_quota: { status: 403, type: 'insufficient_quota' },
  key_limit_exceeded: { status: 403, type: 'insufficient_quota' },
  account_limit_exceeded: { status: 403, type: 'insufficient_quota' },
  ip_not_allowed: { status: 403, type: REQUEST },
  account_frozen: { status: 403, type: REQUEST },
  account_closing: { status: 403, type: REQUEST },
  model_not_allowed: { status: 403, type: REQUEST },
  group_not_granted: { status: 403, type: REQUEST },
  invalid_type: { status: 400, type: REQUEST },
  invalid_value: { status: 400, type: REQUEST },
  unknown_parameter: { status: 400, type: REQUEST },
  invalid_json: { status: 400, type: REQUEST },
  invalid_multipart: { status: 400, type: REQUEST },
  invalid_request: { status: 400, type: REQUEST },
  idempotency_key_reused: { status: 400, type: REQUEST },
  idempotency_outcome_unknown: { status: 400, type: REQUEST },
  missing_required_parameter: { status: 400, type: REQUEST },
  model_not_supported_here: { status: 400, type: REQUEST },
  content_policy_violation: { status: 400, type: REQUEST },
  upstream_rejected: { status: 400, type: REQUEST },
  video_not_ready: { status: 400, type: REQUEST },
  video_failed: { status: 400, type: REQUEST },
  video_not_remixable: { status: 400, type: REQUEST },
  unsupported_media_type: { status: 415, type: REQUEST },
  image_input_not_supported: { status: 422, type: REQUEST },
  video_not_found: { status: 404, type: REQUEST },
  video_expired: { status: 404, type: REQUEST },
  video_deleted: { status: 404, type: REQUEST },
  invalid_image: { status: 400, type: REQUEST },
  image_must_be_base64: { status: 400, type: REQUEST },
  webhook_not_supported: { status: 400, type: REQUEST },
  draft_required: { status: 400, type: REQUEST },
  not_a_draft: { status: 400, type: REQUEST },
  draft_not_finished: { status: 400, type: REQUEST },
  draft_failed: { status: 400, type: REQUEST },
  draft_not_found: { status: 404, type: REQUEST },
  asset_not_ready: { status: 400, type: REQUEST },
  asset_failed: { status: 400, type: REQUEST },
  asset_not_found: { status: 404, type: REQUEST },
  asset_expired: { status: 404, type: REQUEST },
  file_not_found: { status: 404, type: REQUEST },
  unknown_url: { status: 404, type: REQUEST },
  unknown_host: { status: 421, type: REQUEST },
  method_not_allowed: { status: 405, type: REQUEST },
  upload_too_slow: { status: 408, type: REQUEST },
  request_too_large: { status: 413, type: REQUEST },
  range_not_satisfiable: { status: 416, type: REQUEST },
  rate_limit_exceeded: { status: 429, type: 'rate_limit_error' },
  not_signed_in: { status: 401, type: REQUEST },
  sign_in_failed: { status: 401, type: REQUEST },
  totp_required: { status: 401, type: REQUEST },
  forbidden: { status: 403, type: REQUEST },
  second_factor_required: { status: 403, type: REQUEST },
  confirmation_required: { status: 403, type: REQUEST },
  csrf_rejected: { status: 403, type: REQUEST },
  not_found: { status: 404, type: REQUEST },
  conflict: { status: 409, type: REQUEST },
  second_person_required: { status: 409, type: REQUEST },
  too_many_attempts: { status: 429, type: 'rate_limit_error' },
  payment_provider_failed: { status: 502, type: 'server_error' },
  service_unavailable: { status: 503, type: 'server_error' },
  generation_failed: { status: 502, type: 'server_error' },
  internal_error: { status: 500, type: 'server_error' },
} as const;

export type ErrorCode = keyof typeof errorTable;

export interface ApiErrorOptions {
  /** The wrong field of the request. */
  param?: string | null;
  /** A status other than the table's, only for an upstream's own 415 and 422. */
  status?: number;
  /** Seconds for a Retry-After header, at most five where SDKs call, because some of them obey any value. */
  retryAfterSeconds?: number;
  /** False forbids automatic repeats by SDKs through x-should-retry. */
  shouldRetry?: boolean;
  cause?: unknown;
}

/** An error that has the name of its class. */
export class NamedError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** An error whose reason is one of these codes. */
export class CodedError<Code extends string> extends NamedError {
  constructor(
    readonly code: Code,
    message: string,
  ) {
    super(message);
  }
}

/** A refusal for the client. Its message may be shown. Anything else that is thrown becomes internal_error. */
export class ApiError extends NamedError {
  readonly status: number;
  readonly type: string;
  readonly param: string | null;
  readonly retryAfterSeconds: number | undefined;
  readonly shouldRetry: boolean | undefined;

  constructor(
    readonly code: ErrorCode,
    message: string,
    options: ApiErrorOptions = {},
  ) {
    super(message, { cause: options.cause });
    this.status = options.status ?? errorTable[code].status;
    this.type = errorTable[code].type;
    this.param = options.param ?? null;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.shouldRetry = options.shouldRetry;
  }
}

/** The refusal of a field's value. `rule` is a sentence about it, such as "must be after from.". */
export function invalidField(param: string, rule: string): ApiError {
  return new ApiError('invalid_value', `${param}: ${rule}`, { param });
}

/** A problem with the configuration or the machine that the operator must fix: one sentence, exit code 1, no stack. */
export class OperatorError extends NamedError {}
