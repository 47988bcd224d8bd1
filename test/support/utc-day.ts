/** Repeats the work if a UTC day ended meanwhile, because personal limits start over each day. */
export async function onOneDay<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    const before = utcDay();
    try {
      return await work();
    } catch (error) {
      if (utcDay() === before) throw error;
    }
  }
}

function utcDay(): string {
  return new Date().toISOString().slice(0, 10);
}
