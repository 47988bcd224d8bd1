import Table from 'cli-table3';

/** The value below which this fraction of the samples lies. Sorts in place. */
export function percentile(samples: number[], part: number): number {
  samples.sort((a, b) => a - b);
  return samples[Math.min(samples.length - 1, Math.floor(samples.length * part))] ?? NaN;
}

/** Prints a plain table to standard output. */
export function printTable(head: string[], rows: string[][]): void {
  const table = new Table({
    head,
    style: { head: [], border: [] },
    colAligns: head.map((_, index) => (index === 0 ? 'left' : 'right')),
  });
  table.push(...rows);
  process.stdout.write(`${table.toString()}\n`);
}
