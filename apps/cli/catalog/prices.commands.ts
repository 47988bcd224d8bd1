import { type Command, InvalidArgumentError } from 'commander';
import type pg from 'pg';
import type { PriceChange } from '#marketplace/prices/price-change.js';
import { previewChanges } from '#marketplace/prices/preview.js';
import { compareRows, readPriceList } from '#marketplace/prices/price-file.js';
import { exportPrices, importPrices } from '#marketplace/prices/price.import.js';
import { readPrices } from '#marketplace/prices/prices-here.js';
import { importView, previewView, previewWindow, proposalDetail } from '#marketplace/prices/prices.view.js';
import type { NewProposal } from '#marketplace/prices/proposal.service.js';
import { OperatorError } from '#platform/errors.js';
import { argument } from '../arguments.js';
import { command } from '../command.js';
import { AS_OPTION, type Acting } from '../acting.js';
import { onDatabase } from '../database.access.js';
import { type Columns, firstItems, printJson, printText, tableOf } from '../output.js';
import { multiplierArgument, priceArgument, readPriceRows, ruleArgument } from './prices.input.js';
import { changesTable, differenceTable, nextStep, previewTable, tellDecision } from './prices.output.js';
import { by, byUnless, proposalsOf, proposing, type Timing } from './proposing.js';

export function pricesCommand(): Command {
  const prices = command('prices', 'prices, multipliers and rules of the marketplace');
  command('list', 'current prices, multipliers and rules', prices).action(list);
  addFiles(prices);
  addPropose(prices);
  addDecisions(prices);
  return prices;
}

function addFiles(prices: Command): void {
  command(
    'export',
    'write what is in force to standard output, as `prices import` reads it: CSV, or JSON with --json',
    prices,
  )
    .option('--csv', 'a CSV file (the default)')
    .action(exportAll);
  proposing(
    command(
      'import',
      'compare a file with current prices and propose the differences; nothing is proposed if a row is refused',
      prices,
    ).argument('<file>', 'a .csv or .json file; - reads CSV from standard input'),
  ).action(importFile);
}

const PRICE_WORDS =
  'credits per call or second, without rates (use a file for those), or input/cached/output per million tokens, such as 5/1.25/10 or 5/1.25/10,imageOutput=32';

function addPropose(prices: Command): void {
  proposing(
    command('propose', 'propose new values, and show what recent requests would cost with them', prices)
      .option('--price <model=price>', PRICE_WORDS, priceArgument, [])
      .option('--multiplier <group=factor>', 'such as Vendora-Main=1.2', multiplierArgument, [])
      .option('--rule <group=price>', 'a fixed price per call for a group, or none', ruleArgument, [])
      .option('--hours <hours>', 'hours of past requests for the preview', hoursArgument, 24),
  )
    .addHelpText('after', PROPOSE_EXAMPLES)
    .action(propose);
}

function addDecisions(prices: Command): void {
  command('proposals', 'proposals, newest first', prices)
    .option('--all', 'include confirmed, cancelled and expired proposals')
    .action(proposals);
  command(
    'confirm',
    'confirm a proposal; refused if the same prices have changed since, or if its author confirms a large change',
    prices,
  )
    .argument('<proposal>', 'proposal id')
    .option('--revision <n>', 'the revision you reviewed; the newest by default', revisionArgument)
    .option(...AS_OPTION)
    .action((id: string, options: Decision) => decide('confirm', id, options));
  command('cancel', 'cancel a proposal', prices)
    .argument('<proposal>', 'proposal id')
    .option(...AS_OPTION)
    .action((id: string, options: Decision) => decide('cancel', id, options));
}

const PROPOSE_EXAMPLES = `
Examples:
  tollgate prices propose --price imgmodel-4=0.035 --dry-run
  tollgate prices propose --price vendora-chat=3/1.5/12 --effective-at 2027-01-31T00:00:00Z
  tollgate prices propose --rule Public-Relay=0.0003 --multiplier Vendora-Main=1.1
  tollgate prices propose --price imgmodel-lite=withdrawn`;

function hoursArgument(text: string): number {
  const hours = Number(text);
  if (/^\d{1,3}$/.test(text) && hours >= 1 && hours <= 31 * 24) return hours;
  throw new InvalidArgumentError('Give whole hours, from 1 to 744.');
}

const revisionArgument = argument(/^[1-9]\d{0,8}$/, Number, 'Give a whole number of at least 1.');

async function list(options: { json?: boolean }): Promise<void> {
  const { exportedAt, changes } = await onDatabase((pool) => exportPrices(pool));
  if (options.json) return printJson({ at: exportedAt.toISOString(), rows: changes });
  printText(changesTable(changes));
}

async function exportAll(options: { json?: boolean }): Promise<void> {
  const { exportedAt, changes, csv } = await onDatabase((pool) => exportPrices(pool));
  if (options.json) return printJson({ exportedAt: exportedAt.toISOString(), rows: changes });
  process.stdout.write(csv());
}

async function importFile(file: string, options: Timing): Promise<void> {
  const { effectiveAt = null, note = `Import of ${file}`, dryRun = false } = options;
  const rows = await readPriceRows(file);
  const result = await onDatabase(async (pool) => {
    const author = await byUnless(dryRun, pool, options);
    return importPrices({ pool, service: proposalsOf(pool) }, { effectiveAt, note, dryRun, rows }, author);
  });
  if (result.refused.length > 0) process.exitCode = 1;
  if (options.json) return printJson(importView(result));
  const { added, changed, same, refused, proposal } = result;
  const lines = [...added, ...changed];
  if (lines.length > 0) printText(differenceTable('Line', lines, ({ line }) => line));
  for (const { line, reason } of refused) printText(`Line ${line} is refused: ${reason}`);
  printText(
    `\n${added.length} added, ${changed.length} changed, ${same} the same, ${refused.length} refused.`,
  );
  printText(proposal ? nextStep(proposal) : 'Nothing was proposed.');
}

interface ProposeOptions extends Timing {
  price: PriceChange[];
  multiplier: PriceChange[];
  rule: PriceChange[];
  hours: number;
}

async function propose(options: ProposeOptions, command: Command): Promise<void> {
  const changes = [...options.price, ...options.multiplier, ...options.rule];
  if (changes.length === 0)
    command.error('error: give at least one of --price, --multiplier and --rule', { exitCode: 2 });
  const { effectiveAt = null, note = '', dryRun = false, hours } = options;
  const wanted: NewProposal = { changes, effectiveAt, note };
  const answer = await onDatabase(async (pool) => {
    if (dryRun) await refuseFaults(pool, wanted);
    const proposal = dryRun ? null : await proposalsOf(pool).propose(wanted, await by(pool, options));
    const preview = await previewOf(pool, wanted, hours);
    const needs = proposal && (await proposalsOf(pool).needsSecondPerson(proposal));
    return { proposal, needs, preview };
  });
  const { proposal, needs, preview } = answer;
  if (options.json) return printJson({ proposal: proposal && proposalDetail(proposal, [], needs), preview });
  printText(previewTable(preview));
  printText(proposal ? `\n${nextStep(proposal)}` : '\nNothing was proposed.');
  if (needs) printText(`${needs.message} Another administrator must confirm it.`);
}

async function previewOf(pool: pg.Pool, { changes, effectiveAt }: NewProposal, hours: number) {
  if (process.stderr.isTTY) process.stderr.write(`Pricing the requests of the last ${hours} hours again …\n`);
  const to = new Date();
  const from = new Date(to.getTime() - hours * 3_600_000);
  const window = previewWindow({ from, to }, to.getTime());
  return previewView(await previewChanges(pool, { changes, effectiveAt, ...window }));
}

/** A dry run refuses what a proposal would. */
async function refuseFaults(pool: pg.Pool, { changes, effectiveAt }: NewProposal): Promise<void> {
  const here = await readPrices(pool);
  const { refused } = compareRows(here, readPriceList(changes), effectiveAt?.getTime() ?? here.nowMs);
  if (refused[0]) throw new OperatorError(refused[0].reason);
}

const PROPOSALS_SHOWN = 200;

async function proposals(options: { all?: boolean; json?: boolean }): Promise<void> {
  const found = await onDatabase((pool) =>
    proposalsOf(pool).list({
      limit: PROPOSALS_SHOWN + 1,
      beforeId: null,
      openOnly: options.all !== true,
    }),
  );
  const { items: rows, more } = firstItems(found, PROPOSALS_SHOWN);
  if (options.json) return printJson({ proposals: rows.map((row) => proposalDetail(row, [], null)), more });
  const columns: Columns<(typeof rows)[number]> = {
    Proposal: 'id',
    State: 'state',
    Changes: ({ changes }) => changes.length,
    Effective: ({ effectiveAt }) => effectiveAt?.toISOString().slice(0, 16) ?? 'at once',
    By: 'proposedBy',
    Note: 'note',
  };
  printText(rows.length === 0 ? 'No proposal is open.' : tableOf(rows, columns));
  if (more) printText(`There are more than these ${PROPOSALS_SHOWN}. The console shows them all.`);
}

type Decision = Acting & { revision?: number; json?: boolean };

async function decide(decision: 'confirm' | 'cancel', id: string, options: Decision): Promise<void> {
  const proposal = await onDatabase(async (pool) => {
    const service = proposalsOf(pool);
    const author = await by(pool, options);
    return service[decision](id, options.revision ?? (await service.find(id)).revision, author);
  });
  tellDecision(proposal, options);
}
