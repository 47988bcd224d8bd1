import { type Command, Option } from 'commander';
import type pg from 'pg';
import { writeCsv } from '#platform/http/csv.js';
import { readUsage, type UsageFilter, usageStates } from '#usage/usage.store.js';
import { everyItem, usageColumns, usageView } from '#usage/usage.view.js';
import { findAccount } from '#identity/account.store.js';
import { unknownAccount } from '#identity/key.store.js';
import { command } from './command.js';
import { countArgument, timeArgument } from './arguments.js';
import { onDatabase } from './database.access.js';
import { type Columns, type Printed, printList, right, second } from './output.js';
import { countedOn } from './progress.js';

interface UsageOptions extends Printed {
  limit: number;
  key?: string;
  model?: string;
  group?: string;
  state?: (typeof usageStates)[number];
  from?: Date;
  to?: Date;
}

const PAGE = 1_000;

export function usageCommand(): Command {
  return command('usage', 'requests of an account, including refused ones, newest first')
    .argument('<account>', 'account id')
    .option('--limit <requests>', 'maximum number of requests; no limit for --csv', countArgument, 50)
    .option('--key <id>', 'only this key')
    .option('--model <model>', 'only this model')
    .option('--group <group>', 'only this group')
    .addOption(new Option('--state <state>', 'only this state').choices([...usageStates]))
    .option('--from <time>', 'not before, such as 2027-01-31 or 2027-01-31T08:00:00Z', timeArgument)
    .option('--to <time>', 'before', timeArgument)
    .option('--csv', 'write all requests to standard output as CSV')
    .action(usage);
}

async function usage(accountId: string, options: UsageOptions): Promise<void> {
  const { key: keyId, model, group, state, from, to } = options;
  const filter: UsageFilter = { keyId, model, group, state, from, to };
  await onDatabase(async (pool) => {
    if (!(await findAccount(pool, accountId))) throw unknownAccount(accountId);
    const entries = entriesOf(pool, accountId, filter);
    if (options.csv) {
      const counted = countedOn(entries, { sizeOf: () => 1, words: (sum) => `${sum} requests` });
      await writeCsv(process.stdout, usageColumns(true), counted);
    } else await print(accountId, entries, options);
  });
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
  let more = false;
  for await (const entry of entries) {
    more = items.length === options.limit;
    if (more) break;
    items.push(entry);
  }
  const json = { accountId, items, more };
  await printList(options, { items, json, table: COLUMNS, none: 'No requests.', more });
}

const COLUMNS: Columns<Entry> = {
  'Time (UTC)': ({ at }) => second(at),
  Model: 'model',
  State: ({ refusalCode, state }) => refusalCode ?? state,
  Credits: right(({ settled, held }) => settled ?? held),
  ms: right('latencyMs'),
  Upstream: right('upstreamStatus'),
};
