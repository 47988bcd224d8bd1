const TIME = /^\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?(Z|\+00)$/;

/** A detail that is a time, as ISO 8601 or as the database writes it, in the form of all others; null where it is none. */
export function momentOf(detail: string | null): string | null {
  return detail !== null && TIME.test(detail) ? detail.replace(' ', 'T').replace('+00', 'Z') : null;
}
