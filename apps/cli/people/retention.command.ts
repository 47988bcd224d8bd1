import type { Command } from 'commander';
import { readRetention } from '#privacy/retention.js';
import { command } from '../command.js';
import { onDatabase } from '../database.access.js';
import { countOf, printList, right } from '../output.js';

const DAY_SECONDS = 86_400;
const HOUR_SECONDS = 3_600;

export function retentionCommand(): Command {
  return command('retention', 'how long each type of data is kept, and what the last runs removed').action(
    retention,
  );
}

async function retention(options: { json?: boolean }): Promise<void> {
  const runs = await onDatabase((pool) => readRetention(pool));
  await printList(options, {
    items: runs,
    json: { items: runs },
    table: {
      Class: 'class',
      Kept: ({ keptSeconds }) => durationOf(keptSeconds),
      'Last run': ({ lastRunAt }) => lastRunAt?.toISOString() ?? 'never',
      Removed: right('removedTotal'),
    },
  });
}

function durationOf(seconds: number): string {
  if (seconds >= DAY_SECONDS) return count(seconds / DAY_SECONDS, 'day');
  if (seconds >= HOUR_SECONDS) return count(seconds / HOUR_SECONDS, 'hour');
  return count(seconds / 60, 'minute');
}

function count(value: number, unit: string): string {
  const rounded = Math.round(value * 100) / 100;
  return countOf(rounded, unit);
}
