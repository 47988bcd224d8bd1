/** How long a vendor asks to be left alone, in milliseconds; undefined where it does not say, or says nothing that can be read. */
export function retryAfterMs(header: string | undefined, nowMs = Date.now()): number | undefined {
  if (header === undefined) return undefined;
  const seconds = Number(header);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - nowMs;
  return ms > 0 ? ms : undefined;
}
