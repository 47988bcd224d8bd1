/** A call that the server refused or that did not reach it. */
export class ApiFailure extends Error {
  /** HTTP status; 0: no answer came. */
  readonly status: number;
  /** Of the server's table of errors; `unreachable` where no answer came. */
  readonly code: string;
  /** The field of the request that is at fault. */
  readonly param: string | null;
  /** What the server's log knows the request by. */
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

/** Reads what an answer says of itself; one that no server of ours wrote, such as a proxy's, counts by its status. */
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

/** Whatever was thrown, as a failure that pages can show. */
export function asFailure(error: unknown): ApiFailure {
  if (error instanceof ApiFailure) return error;
  return new ApiFailure({ status: 0, code: 'internal_fault', message: String(error) });
}
