import { type Command, InvalidArgumentError } from 'commander';
import type pg from 'pg';
import { readAlone } from '#platform/config.js';
import { OperatorError } from '#platform/errors.js';
import type { FileStore } from '#storage/file-store.js';
import { openStorage, readRequestLogStorage, type StorageConfig } from '#storage/storage.config.js';
import { type ExportedHour, exportHours } from '#usage/request-log/hour-export.js';
import { command } from '../command.js';
import { timeArgument } from '../arguments.js';
import { onDatabase } from '../database.access.js';
import { printJson, printText } from '../output.js';
import { progressOf, showProgress } from '../progress.js';
import { interruptible } from './interruption.js';

const HOUR_MS = 3_600_000;

interface ExportOptions {
  from: Date;
  to: Date;
  out?: string;
  json?: boolean;
}

export function requestLogCommand(): Command {
  const requestLog = command('request-log', 'the request log, one object per hour');
  command('export', 'export past hours: again, or from before the export was turned on', requestLog)
    .requiredOption(
      '--from <hour>',
      'the first hour, such as 2026-01-31 or 2026-01-31T08:00:00Z',
      hourArgument,
    )
    .requiredOption('--to <hour>', 'the first hour not included', hourArgument)
    .option('--out <folder>', 'a folder instead of REQUEST_LOG_DIR or REQUEST_LOG_BUCKET')
    .action(exportLog);
  return requestLog;
}

function hourArgument(text: string): Date {
  const time = timeArgument(text);
  if (time.getTime() % HOUR_MS === 0) return time;
  throw new InvalidArgumentError('Give a day or a full hour.');
}

async function exportLog({ from, to, out, json }: ExportOptions): Promise<void> {
  if (from >= to) throw new OperatorError('--to must be after --from.');
  const store = openStorage(out === undefined ? configured() : { kind: 'file', folder: out });
  const items = await onDatabase((pool) =>
    interruptible(
      (proceed) => exportAll({ pool, store }, { from, to, isNoted: out === undefined }, proceed),
      'the hours before stay where they are',
    ),
  );
  if (json) return printJson({ place: store.place, items });
  const requests = items.reduce((sum, { lines }) => sum + lines, 0);
  printText(`Exported to ${store.place}. Hours: ${items.length}. Requests: ${requests}.`);
}

function configured(): StorageConfig {
  const storage = readAlone(process.env, readRequestLogStorage);
  if (storage) return storage;
  throw new OperatorError('Give --out, or set REQUEST_LOG and its folder or bucket.');
}

async function exportAll(
  parts: { pool: pg.Pool; store: FileStore },
  hours: Parameters<typeof exportHours>[1],
  proceed: () => void,
): Promise<ExportedHour[]> {
  const items: ExportedHour[] = [];
  const show = progressOf((lines) => `${items.length} hours, and ${lines} requests of the next`);
  const onLines = (lines: number) => {
    proceed();
    show(lines);
  };
  try {
    for await (const exported of exportHours({ ...parts, onLines }, hours)) {
      items.push(exported);
      proceed();
    }
    return items;
  } finally {
    showProgress();
  }
}
