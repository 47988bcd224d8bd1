/**
 * The times that anyone can mean. PostgreSQL knows no year 0 and no offset of sixteen hours, JavaScript writes years
 * beyond 9999 in another form; well within both, what passed the check can be stored and calculated with.
 */
const EARLIEST_MS = Date.UTC(1970, 0, 1);
const END_MS = Date.UTC(2200, 0, 1);
/** Clocks are set by fourteen hours at most. */
const OFFSET = /(Z|[+-](0\d|1[0-3]):[0-5]\d|[+-]14:00)$/;
/** A time as PostgreSQL prints it in UTC. */
const STORED = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?\+00$/;

export const TIMES = 'from 1970 to 2199';

/** Whether an ISO 8601 text with its offset is a time that can be stored. */
export function isInstant(text: string): boolean {
  return OFFSET.test(text) && isWithin(Date.parse(text));
}

/** Whether a text such as 2026-01-31 is a day that can be stored; the 31st of February is none. */
export function isDay(text: string): boolean {
  const ms = Date.parse(text);
  return isWithin(ms) && new Date(ms).toISOString().slice(0, 10) === text;
}

function isWithin(ms: number): boolean {
  return ms >= EARLIEST_MS && ms < END_MS;
}

/**
 * PostgreSQL's text of a time in UTC, `2026-01-31 10:00:00.5+00`, as ISO 8601; other text stays as it is. PostgreSQL drops
 * the zeros at the end of a fraction: three or six digits give an instant one form, the one that a `Date` prints.
 */
export function isoInstant(text: string): string {
  const stored = STORED.exec(text);
  if (!stored) return text;
  const [, day, time, fraction = ''] = stored;
  return `${day}T${time}.${fraction.padEnd(fraction.length > 3 ? 6 : 3, '0')}Z`;
}

/** A time of ISO 8601 as it is read: `2026-11-23 05:10 UTC`. */
export function minuteOf(iso: string): string {
  return `${iso.slice(0, 16).replace('T', ' ')} UTC`;
}
