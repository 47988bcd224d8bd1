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
