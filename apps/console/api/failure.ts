/** A request that the server refused, or that did not reach it. */
export class ApiFailure extends Error {
  /** The HTTP status; 0 without a response. */
  readonly status: number;
  /** From the server's error table; `unreachable` without a response. */
  readonly code: string;
  /** The field of the request with the error. */
  readonly param: string | null;
  /** The id of the request in the server's log. */
  readonly requestId: string | null;

  constructor(refusal: {
    status: number;
    code: string;
    message: string;
    param?: string | null;
    requestId?: string | null;
  }) {
    super(refusal.message);
    this.name = 'ApiFailure';
    this.status = refusal.status;
    this.code = refusal.code;
    this.param = refusal.param ?? null;
    this.requestId = refusal.requestId ?? null;
  }
}

interface ErrorBody {
  error?: { code?: string; message?: string; param?: string | null };
}

/** Reads an error response. A foreign one, such as a proxy's, only has its status. */
export async function failureFrom(response: Response): Promise<ApiFailure> {
  const body = (await response.json().catch(() => ({}))) as ErrorBody;
  return new ApiFailure({
    status: response.status,
    code: body.error?.code ?? 'unexpected_answer',
    message: body.error?.message ?? `The server answered ${response.status}.`,
    param: body.error?.param ?? null,
    requestId: response.headers.get('x-request-id'),
  });
}

/** A request without a response, or with one that broke off. */
export function unreachable(error: unknown): ApiFailure {
  return new ApiFailure({ status: 0, code: 'unreachable', message: String(error) });
}

/** Turns anything thrown into a failure that pages can show. */
export function asFailure(error: unknown): ApiFailure {
  if (error instanceof ApiFailure) return error;
  return new ApiFailure({ status: 0, code: 'internal_fault', message: String(error) });
}
