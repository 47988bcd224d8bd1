/** A time for the browser's datetime field, in the viewer's time zone, such as 2026-01-31T09:00. */
export function localMinute(at: Date): string {
  const two = (value: number) => String(value).padStart(2, '0');
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day}T${two(at.getHours())}:${two(at.getMinutes())}`;
}

/**
 * What a datetime field holds, in UTC; null for none. A time that was not changed stays what it was: the field has no
 * seconds, and a minute occurs twice when summer time ends.
 */
export function enteredTime(entered: string, before: string | null = null): string | null {
  if (entered === '') return null;
  const isSame = before !== null && localMinute(new Date(before)) === entered;
  return isSame ? before : new Date(entered).toISOString();
}
