/** Runs again what a day of UTC ended in, since what a person may do alone starts over with each. */
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
