/**
 * Does one thing after the other, all of them also when some fail, so that one that always fails keeps no other waiting.
 * @throws what failed, when all had their turn
 */
export async function eachInTurn<T>(
  items: Iterable<T>,
  work: (item: T) => Promise<unknown>,
  signal?: AbortSignal,
): Promise<void> {
  const failures: unknown[] = [];
  for (const item of items) {
    if (signal?.aborted) break;
    try {
      await work(item);
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length === 1) throw failures[0];
  if (failures.length > 1) throw new AggregateError(failures, `${failures.length} of them failed`);
}

/** Waits until the work has ended, but no longer than the limit. */
export async function waitAtMost(limitMs: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => (timer = setTimeout(resolve, limitMs)));
  await Promise.race([work, limit]);
  clearTimeout(timer);
}
