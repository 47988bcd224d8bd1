import { useEffect, useState } from 'react';

/** The present moment, anew every so often while it is needed; for what is counted down. Milliseconds. */
export function useNow(everyMs: number, isNeeded = true): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!isNeeded) return;
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs, isNeeded]);
  return now;
}
