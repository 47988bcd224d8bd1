/** A moment as the browser's field for times wants it, in the viewer's zone: a minute such as 2026-01-31T09:00. */
export function localMinute(at: Date): string {
  const two = (value: number) => String(value).padStart(2, '0');
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day}T${two(at.getHours())}:${two(at.getMinutes())}`;
}
