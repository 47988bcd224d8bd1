const TIME = /^\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?(Z|\+00)$/;

/** A detail as an ISO 8601 time, or null if it is none. Some are in the database's format. */
export function momentOf(detail: string | null): string | null {
  return detail !== null && TIME.test(detail) ? detail.replace(' ', 'T').replace('+00', 'Z') : null;
}
