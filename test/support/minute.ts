import { until } from './eventually.js';

/** What is usually enough for one test. */
const NEEDED_SECONDS = 20;

const minute = (): number => Math.floor(Date.now() / 60_000);

/**
 * For limits per minute, which start again with the next one: what fails because a minute ended meanwhile is done again.
 * @param work starts with new keys or accounts each time
 */
export async function withinOneMinute(work: () => Promise<void>): Promise<void> {
  for (;;) {
    await until('a fresh minute', async () => new Date().getSeconds() < 60 - NEEDED_SECONDS);
    const begun = minute();
    try {
      return await work();
    } catch (error) {
      if (minute() === begun) throw error;
    }
  }
}
