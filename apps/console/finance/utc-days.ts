/** The books are kept in UTC days, whatever the viewer's time zone. */

export interface DaySpan {
  /** Days such as 2026-01-31, both included. */
  from?: string | undefined;
  to?: string | undefined;
}

export function addDays(day: string, days = 1): string {
  const date = new Date(`${day}T00:00:00Z`);
  date.setUTCDate(date.getUTCDate() + days);
  return date.toISOString().slice(0, 10);
}

export function today(): string {
  return new Date().toISOString().slice(0, 10);
}

/** The first day of the month, or of a later month. */
export function monthOf(day: string, later = 0): string {
  const date = new Date(`${day.slice(0, 7)}-01T00:00:00Z`);
  date.setUTCMonth(date.getUTCMonth() + later);
  return date.toISOString().slice(0, 10);
}

export function lastMonth(): Required<DaySpan> {
  const begin = monthOf(today());
  return { from: monthOf(begin, -1), to: addDays(begin, -1) };
}

export function startOf(day: string): string {
  return `${day}T00:00:00Z`;
}

/** For routes that take times. */
export function timesOf({ from, to }: DaySpan) {
  return { from: from && startOf(from), to: to && startOf(addDays(to)) };
}

/** For routes that take days and exclude the last. */
export function daysUntil({ from, to }: DaySpan) {
  return { from, to: to && addDays(to) };
}
