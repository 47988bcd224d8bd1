import { Command } from 'commander';
import { readRetention } from '#privacy/retention.js';
import { onDatabase } from '../database.access.js';
import { printJson, printText, table, right } from '../output.js';

const DAY_SECONDS = 86_400;
const HOUR_SECONDS = 3_600;

export function retentionCommand(): Command {
  return new Command('retention')
    .description('how long each type of data is kept, and what the last runs removed')
    .option('--json', 'print one JSON document')
    .action(retention);
}

async function retention({ json }: { json?: boolean }): Promise<void> {
  const runs = await onDatabase(process.env, (pool) => readRetention(pool));
  if (json) return printJson({ items: runs });
  const rows = runs.map((run) => [
    run.class,
    durationOf(run.keptSeconds),
    run.lastRunAt?.toISOString() ?? 'never',
    run.removedTotal,
  ]);
  printText(table(['Class', 'Kept', 'Last run', right('Removed')], rows));
}

function durationOf(seconds: number): string {
  if (seconds >= DAY_SECONDS) return count(seconds / DAY_SECONDS, 'day');
  if (seconds >= HOUR_SECONDS) return count(seconds / HOUR_SECONDS, 'hour');
  return count(seconds / 60, 'minute');
}

function count(value: number, unit: string): string {
  const rounded = Math.round(value * 100) / 100;
  return `${rounded} ${unit}${rounded === 1 ? '' : 's'}`;
}
