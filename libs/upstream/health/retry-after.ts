/** How long a vendor asks us to wait, in milliseconds; undefined if it does not say, or says it unreadably. */
export function retryAfterMs(header: string | undefined, nowMs = Date.now()): number | undefined {
  if (header === undefined) return undefined;
  const seconds = Number(header);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - nowMs;
  return ms > 0 ? ms : undefined;
}
