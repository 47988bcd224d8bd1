/** Takes a few hundred microseconds to read, more on a slower machine. */
const TEXT = JSON.stringify(Array.from({ length: 2_500 }, (_, index) => ({ index })));

/** How many times as long some work keeps this thread busy as reading a little JSON. */
export function timesReading(work: () => unknown): number {
  return timeOf(work) / timeOf(() => JSON.parse(TEXT));
}

function timeOf(work: () => unknown): number {
  for (let times = 0; times < 10; times += 1) work();
  const before = process.threadCpuUsage();
  for (let times = 0; times < 50; times += 1) work();
  const { user, system } = process.threadCpuUsage(before);
  return user + system;
}
