import { Command, InvalidArgumentError, Option } from 'commander';
import type pg from 'pg';
import { writeCsv } from '#platform/http/csv.js';
import { readUsage, type UsageFilter, usageStates } from '#usage/usage.store.js';
import { everyItem, usageColumns, usageView } from '#usage/usage.view.js';
import { findAccount } from '#identity/account.store.js';
import { unknownAccount } from '#identity/key.store.js';
import { countArgument } from './arguments.js';
import { onDatabase } from './database.access.js';
import { printJson, printText, table, right } from './output.js';
import { countedOn } from './progress.js';

interface UsageOptions {
  limit: number;
  key?: string;
  model?: string;
  group?: string;
  state?: (typeof usageStates)[number];
  from?: Date;
  to?: Date;
  csv?: boolean;
  json?: boolean;
}

const PAGE = 1_000;

export function usageCommand(): Command {
  return new Command('usage')
    .description('requests of an account, including refused ones, newest first')
    .argument('<account>', 'account id')
    .option('--limit <requests>', 'maximum number of requests; no limit for --csv', countArgument, 50)
    .option('--key <id>', 'only this key')
    .option('--model <model>', 'only this model')
    .option('--group <group>', 'only this group')
    .addOption(new Option('--state <state>', 'only this state').choices([...usageStates]))
    .option('--from <time>', 'not before, such as 2027-01-31 or 2027-01-31T08:00:00Z', timeArgument)
    .option('--to <time>', 'before', timeArgument)
    .option('--csv', 'write all requests to standard output as CSV')
    .option('--json', 'print one JSON document')
    .action(usage);
}

function timeArgument(text: string): Date {
  const time = new Date(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text);
  if (/^\d{4}-\d{2}-\d{2}(T.*(Z|[+-]\d{2}:\d{2}))?$/.test(text) && !Number.isNaN(time.getTime())) return time;
  throw new InvalidArgumentError('Give a day of UTC, or a time with its zone.');
}

async function usage(accountId: string, options: UsageOptions): Promise<void> {
  const { key: keyId, model, group, state, from, to } = options;
  const filter: UsageFilter = { keyId, model, group, state, from, to };
  await onDatabase(process.env, async (pool) => {
    if (!(await findAccount(pool, accountId))) throw unknownAccount(accountId);
    const entries = entriesOf(pool, accountId, filter);
    if (options.csv) {
      const counted = countedOn(entries, { sizeOf: () => 1, words: (sum) => `${sum} requests` });
      await writeCsv(process.stdout, usageColumns(true), counted).catch(ignoreClosedPipe);
    } else await print(accountId, entries, options);
  });
}

/** The reader may stop early, as `head` does. */
function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
}

type Entry = ReturnType<typeof usageView>;

async function* entriesOf(pool: pg.Pool, accountId: string, filter: UsageFilter): AsyncGenerator<Entry> {
  const entries = everyItem((after) => readUsage(pool, { accountId, filter }, { limit: PAGE, after }));
  for await (const entry of entries) yield usageView(entry, true);
}

async function print(
  accountId: string,
  entries: AsyncGenerator<Entry>,
  options: UsageOptions,
): Promise<void> {
  const items: Entry[] = [];
  for await (const entry of entries) {
    if (items.push(entry) === options.limit) break;
  }
  if (options.json) return printJson({ accountId, items });
  const rows = items.map(({ at, model, state, settled, held, latencyMs, upstreamStatus, refusalCode }) => [
    at.replace('T', ' ').slice(0, 19),
    model ?? '-',
    refusalCode ?? state,
    settled ?? held,
    latencyMs === null ? '-' : String(latencyMs),
    String(upstreamStatus ?? '-'),
  ]);
  printText(table(['Time (UTC)', 'Model', 'State', right('Credits'), right('ms'), right('Upstream')], rows));
}
