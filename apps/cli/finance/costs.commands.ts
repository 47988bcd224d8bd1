import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { type Command, InvalidArgumentError } from 'commander';
import { viewBill, viewCostImport, costView } from '#finance/views/costs.view.js';
import { type CostImport, importCosts } from '#finance/costs/cost-file.js';
import { type CostVersion, listCosts, setCost } from '#finance/costs/cost-versions.js';
import { billsByChannel, listBills, recordBill, channelBillsView } from '#finance/costs/upstream-bills.js';
import { formatAmount, parseAmount } from '#money/amount.js';
import { OperatorError } from '#platform/errors.js';
import { newId } from '#platform/ids.js';
import { command } from '../command.js';
import { AS_OPTION, type Acting, operatorOf, doerUnless } from '../acting.js';
import { dayArgument, countArgument, zonedTimeArgument } from '../arguments.js';
import { onDatabase } from '../database.access.js';
import {
  type Columns,
  firstItems,
  minute,
  MORE,
  printFacts,
  printJson,
  printList,
  printText,
  right,
  tableOf,
} from '../output.js';
import { costOf, costText } from './cost-text.js';
import { shown } from '#platform/http/fields.js';

export function costsCommand(): Command {
  const costs = command('costs', 'upstream costs and bills').addHelpText('after', NOTES);
  addCostCommands(costs);
  addImport(costs);
  addBillCommands(costs);
  return costs;
}

const COST_WORDS = 'USD per call or second, input/cached/output per million tokens, or withdrawn; see below';

function addCostCommands(costs: Command): void {
  command('list', 'costs in force now, or every version', costs)
    .option('--channel <id>', 'only this channel')
    .option('--model <id>', 'only this model')
    .option('--all', 'include past and future versions')
    .option('--limit <count>', 'at most this many', countArgument, 1000)
    .action(list);
  command('set', 'set the cost of a model on a channel', costs)
    .argument('<channel>', 'id of the channel')
    .argument('<model>', 'id of the model')
    .argument('<cost>', COST_WORDS)
    .option('--bills-failures', 'the upstream also bills failed work')
    .option('--effective-from <time>', 'such as 2027-01-31T00:00:00Z; now by default', zonedTimeArgument)
    .option('--reason <text>', 'the reason, for the audit log', 'set by hand')
    .option(...AS_OPTION)
    .action(set);
}

function addImport(costs: Command): void {
  command('import', 'set costs from a CSV file; if one row is refused, none is set', costs)
    .argument('<file>', 'a CSV file; - reads standard input')
    .option('--reason <text>', 'the reason, for the audit log')
    .option(...AS_OPTION)
    .option('--dry-run', 'show the changes without making them')
    .action(importFile);
}

const NOTES = `
A file has the columns channel, model, and unit_cost or input_cost, cached_input_cost and output_cost. Optional columns are
bills_failures (yes, no), effective_from and withdrawn (yes). Recorded costs never change: corrections are made when the
upstream's bill is recorded.

Image and audio tokens cost as much as text, unless the cost names them: imageInput, cachedImageInput, imageOutput,
audioInput, cachedAudioInput, audioOutput.

Examples:
  tollgate finance costs set sandbox imgmodel-4 0.018
  tollgate finance costs set sandbox image-by-tokens 5/1.25/10,imageInput=8,imageOutput=32
  tollgate finance costs set sandbox vendora-chat 1.5/0.75/6 --bills-failures
  tollgate finance costs import costs.csv --dry-run
  tollgate finance costs bill sandbox INV-2026-01 118.40 --from 2026-01-01 --to 2026-02-01`;

function addBillCommands(costs: Command): void {
  command('bill', 'record an upstream bill; the difference from accrued costs is booked as an expense', costs)
    .argument('<channel>', 'id of the channel')
    .argument('<number>', "the bill's number")
    .argument('<amount>', 'USD; negative for a credit note', amountArgument)
    .requiredOption('--from <day>', 'first day that it covers, UTC', dayArgument)
    .requiredOption('--to <day>', 'the day after the last day', dayArgument)
    .option(...AS_OPTION)
    .action(bill);
  command('bills', 'costs against bills by channel, and the latest bills', costs)
    .option('--limit <count>', 'at most this many bills', countArgument, 50)
    .action(bills);
}

function amountArgument(given: string): bigint {
  if (/^-?\d{1,9}(\.\d{1,9})?$/.test(given)) return parseAmount(given);
  throw new InvalidArgumentError('Give USD with at most nine decimals, such as 118.40.');
}

interface ListOptions {
  channel?: string;
  model?: string;
  all?: boolean;
  limit: number;
  json?: boolean;
}

async function list(options: ListOptions): Promise<void> {
  const { all = false, channel, model, limit } = options;
  const found = await onDatabase((pool) =>
    listCosts(pool, { channel, model, limit: limit + 1, beforeId: null, inForce: !all }),
  );
  const { items, more } = firstItems(found, limit);
  await printList(options, {
    items,
    json: { costs: items.map((row) => shown(costView, row)), more },
    more,
    table: {
      Channel: 'channel',
      Model: 'model',
      'Cost (USD)': ({ cost }) => costText(cost),
      Failures: ({ billsFailures }) => (billsFailures ? 'billed' : 'free'),
      From: fromText,
      By: 'actor',
    },
    none: 'No cost is known.',
  });
}

function fromText({ effectiveFrom }: Pick<CostVersion, 'effectiveFrom'>): string {
  return effectiveFrom ? minute(effectiveFrom.toISOString()) : 'ever';
}

interface SetOptions extends Acting {
  billsFailures?: boolean;
  effectiveFrom?: Date;
  reason: string;
  json?: boolean;
}

async function set(
  ...given: [channel: string, model: string, cost: string, options: SetOptions]
): Promise<void> {
  const [channel, model, text, options] = given;
  const { billsFailures = false, effectiveFrom = null, reason, json } = options;
  const cost = costOf(text);
  const version = await onDatabase(async (pool) => {
    const { by: actor } = await operatorOf(pool, options, ['finance']);
    const wanted = { channel, model, cost, billsFailures, effectiveFrom, reason };
    return setCost(pool, { ...wanted, actor, requestId: newId() });
  });
  if (json) return printJson(shown(costView, version));
  printFacts([
    ['Channel', version.channel],
    ['Model', version.model],
    ['Cost', `${costText(version.cost)} USD`],
    ['Failed work', version.billsFailures ? 'is billed' : 'is free'],
    ['From', fromText(version)],
  ]);
}

async function importFile(
  file: string,
  options: Acting & { reason?: string; dryRun?: boolean; json?: boolean },
): Promise<void> {
  const { reason = `Import of ${file}`, dryRun = false } = options;
  const content = await contentOf(file);
  const done = await onDatabase(async (pool) => {
    const { by: actor } = await doerUnless(pool, { ...options, isOnlyTried: dryRun }, ['finance']);
    return importCosts(pool, content, { actor, reason, requestId: newId(), dryRun });
  });
  if (done.refused.length > 0) process.exitCode = 1;
  if (options.json) return printJson(viewCostImport(done));
  const { changed, same, refused } = done;
  if (changed.length > 0) printText(changesText(changed));
  for (const { line, reason: why } of refused) printText(`Line ${line} is refused: ${why}`);
  const isDone = !dryRun && refused.length === 0;
  printText(
    `\n${changed.length} ${isDone ? 'set' : 'to set'}, ${same} the same, ${refused.length} refused.${isDone ? '' : ' Nothing was set.'}`,
  );
}

function changesText(changed: CostImport['changed']): string {
  return tableOf(changed, {
    Line: 'line',
    Channel: ({ wanted }) => wanted.channel,
    Model: ({ wanted }) => wanted.model,
    Before: ({ before }) => before && costText(before.cost),
    After: ({ wanted }) => costText(wanted.cost),
  });
}

async function contentOf(file: string): Promise<string> {
  if (file === '-') return text(process.stdin);
  try {
    return await readFile(file, 'utf8');
  } catch {
    throw new OperatorError(`The file ${file} cannot be read.`);
  }
}

type BillOptions = Acting & { from: string; to: string; json?: boolean };

async function bill(
  ...given: [channel: string, number: string, amount: bigint, options: BillOptions]
): Promise<void> {
  const [channel, number, amount, options] = given;
  const { from, to, json } = options;
  const recorded = await onDatabase(async (pool) => {
    const { by: actor } = await operatorOf(pool, options, ['finance']);
    return recordBill(pool, { channel, number, amount, from, to, actor, requestId: newId() });
  });
  if (json) return printJson(viewBill(recorded));
  const view = viewBill(recorded);
  printFacts([
    ['Bill', `${view.number} of ${view.channel}, ${view.from} to ${view.to}`],
    ['Amount', `${view.amount} USD`],
    ['Costs covered', `${view.accrued} USD`],
    ['Difference', `${view.difference} USD`],
  ]);
}

async function bills(options: { limit: number; json?: boolean }): Promise<void> {
  const { channels, found } = await onDatabase(async (pool) => ({
    channels: await billsByChannel(pool),
    found: (await listBills(pool, { limit: options.limit + 1, beforeId: null })).map(viewBill),
  }));
  const { items: latest, more } = firstItems(found, options.limit);
  if (options.json) {
    return printJson({
      channels: channels.map((each) => shown(channelBillsView, each)),
      bills: latest,
      more,
    });
  }
  if (channels.length === 0) return printText('No costs were accrued and no bill was recorded.');
  printText(
    tableOf(channels, {
      Channel: 'channel',
      Costs: right(({ accrued }) => formatAmount(accrued)),
      Covered: right(({ covered }) => formatAmount(covered)),
      Open: right(({ open }) => formatAmount(open)),
      Billed: right(({ billed }) => formatAmount(billed)),
      Difference: right(({ difference }) => formatAmount(difference)),
      'Billed to': 'billedTo',
    }),
  );
  if (latest.length > 0) printText(`\n${tableOf(latest, BILLS)}`);
  if (more) printText(MORE);
}

const BILLS: Columns<ReturnType<typeof viewBill>> = {
  Number: 'number',
  Channel: 'channel',
  From: 'from',
  To: 'to',
  Amount: right('amount'),
  Difference: right('difference'),
};
