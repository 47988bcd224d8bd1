const PAUSE_MS = 20;
/** Only a hang takes this long. */
export const LIMIT_MS = 180_000;
/**
 * The same after an outage: on a busy machine, calls succeeded again 103 s after the broker was killed, and a broker took
 * 90 s to start.
 */
export const RECOVERY_LIMIT_MS = 600_000;

/**
 * Asks again until the answer is neither false nor empty, and returns it.
 * @throws Error that says what it waited for, and the last `state`
 */
export async function until<T>(
  what: string,
  ask: () => Promise<T | undefined | false | null>,
  { limitMs = LIMIT_MS, state = () => '' }: { limitMs?: number; state?: () => string } = {},
): Promise<T> {
  const endMs = Date.now() + limitMs;
  for (;;) {
    const answer = await ask();
    if (answer) return answer;
    if (Date.now() > endMs) throw new Error(`waited ${limitMs} ms in vain for: ${what}\n${state()}`);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
