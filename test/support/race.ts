/** How what was started at once ended: how many succeeded, and the codes of the others' refusals. */
export async function race(
  work: readonly Promise<unknown>[],
): Promise<{ succeeded: number; refused: unknown[] }> {
  const ends = await Promise.allSettled(work);
  const failed = ends.filter((end) => end.status === 'rejected');
  return {
    succeeded: ends.length - failed.length,
    refused: failed.map(({ reason }) => (reason as { code?: unknown }).code ?? reason),
  };
}
