import { useEffect, useState } from 'react';

/** The current time in milliseconds, updated at an interval while needed. */
export function useNow(everyMs: number, isNeeded = true): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!isNeeded) return;
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs, isNeeded]);
  return now;
}
