/**
 * The range of valid times. PostgreSQL has no year 0 and no offset of sixteen hours, and JavaScript formats years
 * beyond 9999 differently. A time well within both can be stored and calculated with.
 */
const EARLIEST_MS = Date.UTC(1970, 0, 1);
const END_MS = Date.UTC(2200, 0, 1);
/** Offsets are at most fourteen hours. */
const OFFSET = /(Z|[+-](0\d|1[0-3]):[0-5]\d|[+-]14:00)$/;
/** A time as PostgreSQL prints it in UTC. */
const STORED = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?\+00$/;

export const TIMES = 'from 1970 to 2199';

/** Whether an ISO 8601 text with its offset is a time that can be stored. */
export function isInstant(text: string): boolean {
  return OFFSET.test(text) && isWithin(Date.parse(text));
}

/** Whether a text such as 2026-01-31 is a day that can be stored. The 31st of February is not. */
export function isDay(text: string): boolean {
  const ms = Date.parse(text);
  return isWithin(ms) && new Date(ms).toISOString().slice(0, 10) === text;
}

function isWithin(ms: number): boolean {
  return ms >= EARLIEST_MS && ms < END_MS;
}

/**
 * Converts PostgreSQL's text of a UTC time, `2026-01-31 10:00:00.5+00`, to ISO 8601. Other text stays unchanged.
 * PostgreSQL omits trailing zeros of a fraction. Three or six digits give an instant one form, like a `Date`.
 */
export function isoInstant(text: string): string {
  const stored = STORED.exec(text);
  if (!stored) return text;
  const [, day, time, fraction = ''] = stored;
  return `${day}T${time}.${fraction.padEnd(fraction.length > 3 ? 6 : 3, '0')}Z`;
}

/** An ISO 8601 time for people: `2026-11-23 05:10 UTC`. */
export function minuteOf(iso: string): string {
  return `${iso.slice(0, 16).replace('T', ' ')} UTC`;
}
