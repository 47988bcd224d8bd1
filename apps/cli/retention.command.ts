import { Command } from 'commander';
import { readRetention } from '#privacy/retention.js';
import { withDatabase } from './database.access.js';
import { printJson, printText, table } from './output.js';

const DAY_SECONDS = 86_400;
const HOUR_SECONDS = 3_600;

export function retentionCommand(): Command {
  return new Command('retention')
    .description('how long what is kept, and what the last runs removed')
    .option('--json', 'print one JSON document')
    .action(retention);
}

async function retention({ json }: { json?: boolean }): Promise<void> {
  const runs = await withDatabase(process.env, (pool) => readRetention(pool));
  if (json) return printJson({ items: runs });
  const rows = runs.map((run) => [
    run.class,
    durationOf(run.keptSeconds),
    run.lastRunAt?.toISOString() ?? 'never',
    run.removedTotal,
  ]);
  printText(
    table(
      [{ title: 'Class' }, { title: 'Kept' }, { title: 'Last run' }, { title: 'Removed', align: 'right' }],
      rows,
    ),
  );
}

function durationOf(seconds: number): string {
  if (seconds >= DAY_SECONDS) return `${round(seconds / DAY_SECONDS)} days`;
  if (seconds >= HOUR_SECONDS) return `${round(seconds / HOUR_SECONDS)} hours`;
  return `${round(seconds / 60)} minutes`;
}

function round(value: number): string {
  return String(Math.round(value * 100) / 100);
}
