import { type Command, InvalidArgumentError } from 'commander';
import { createReadStream, existsSync, readFileSync } from 'node:fs';
import type pg from 'pg';
import { z } from 'zod';
import { readPaymentsConfig } from '#payments/payments.config.js';
import { viewImport } from '#finance/provider-reports/reconciliation.view.js';
import { importFromStripe } from '#finance/provider-reports/stripe.report.js';
import { bankMapping, type BankMapping } from '#finance/provider-reports/bank/bank-csv.js';
import { matchBankLines } from '#finance/provider-reports/bank/bank-match.js';
import { importBankCsv, usableMapping } from '#finance/provider-reports/bank/bank.import.js';
import { requireDays, todayIn } from '#finance/provider-reports/coverage.js';
import type { FileSource } from '#finance/provider-reports/csv-rows.js';
import { postReportLines, type Unexplained } from '#finance/provider-reports/line-postings.js';
import {
  auditedAs,
  type FileImport,
  type ReportImport,
  importStripeCsv,
} from '#finance/provider-reports/report.import.js';
import { faultText, ReportRefused } from '#finance/provider-reports/report-line.js';
import { importSandbox } from '#finance/provider-reports/sandbox-books.js';
import { formatMinor } from '#money/currency.js';
import { ConfigReader } from '#platform/config.js';
import { OperatorError } from '#platform/errors.js';
import { command } from '../command.js';
import { AS_OPTION, type Acting, operatorOf, doerUnless } from '../acting.js';
import { dayArgument } from '../arguments.js';
import { onDatabase } from '../database.access.js';
import { facts, printJson, printText } from '../output.js';
import { showProgress } from '../progress.js';

const NOTES = `
Stripe: the itemized reports "Balance change from activity" (with payment_intent_id), "Payout reconciliation" and
"Payouts", with times in UTC; or Stripe's API, with --api and STRIPE_SECRET_KEY. A file is imported completely or not at
all, and importing it again does no harm.

A mapping is a JSON document or the name of a file with one. It is stored, so you only need it once:
  {"delimiter": ";", "decimal": ",", "date": {"column": "Tag", "format": "DD.MM.YYYY"},
   "amount": {"column": "Betrag"}, "currency": {"fixed": "EUR"}, "reference": ["Zweck"]}
Banks with two columns: "amount": {"debit": "Out", "credit": "In"}. Also: encoding (windows-1252), skipLines, lineId,
timeZone (in which the bank counts days; UTC by default).

A file does not say which days it covers, so --from and --to do: what it lacks between them did not happen there. Start each
file where the last one ended; \`tollgate finance reconcile coverage\` shows gaps.

Fees and payouts are posted from what is imported, and lines at the bank are matched.

Examples:
  tollgate finance import stripe january.csv --from 2026-01-01 --to 2026-02-01
  tollgate finance import stripe --api
  tollgate finance import bank main january.csv --from 2026-01-01 --to 2026-02-01 --mapping main.json --dry-run`;

interface FileOptions extends Acting {
  from?: string;
  to?: string;
  dryRun?: boolean;
  json?: boolean;
}

interface DoneOptions extends FileOptions {
  /** Who acts, as the audit log names them. */
  by: string;
}

export function importCommand(): Command {
  const imports = command('import', 'import reports of payment providers and banks').addHelpText(
    'after',
    NOTES,
  );
  withRange(command('stripe', 'a report of Stripe, or its own list', imports))
    .argument('[file]', 'itemized report as CSV')
    .option('--api', 'fetch from Stripe, from the end of the last import or --from')
    .action(importStripe);
  withRange(command('bank', 'a CSV file of a bank', imports))
    .argument('<account>', 'our name for the bank account, such as main')
    .argument('<file>', 'the file')
    .option('--mapping <json>', 'how to read its files; needed the first time', mappingArgument)
    .action(importBank);
  command('sandbox', "the sandbox's simulated payments", imports)
    .option(...AS_OPTION)
    .action(importFromSandbox);
  return imports;
}

function importFromSandbox(options: Acting & { json?: boolean }): Promise<void> {
  return onDatabase(async (pool) => {
    const { by } = await operatorOf(pool, options, ['finance']);
    const result = await importSandbox(pool, by);
    print(result, await digest(pool, result), options);
  });
}

function withRange(command: Command): Command {
  return command
    .option('--from <day>', "first day that the file covers, in the file's time zone", dayArgument)
    .option('--to <day>', 'the day after the last day; not later than today', dayArgument)
    .option(...AS_OPTION)
    .option('--dry-run', 'read and compare everything without changing anything');
}

async function importStripe(
  file: string | undefined,
  options: FileOptions & { api?: boolean },
): Promise<void> {
  if ((file === undefined) === (options.api === undefined))
    throw new OperatorError('Give either a file or --api.');
  if (options.api && options.dryRun) throw new OperatorError('--dry-run is for files.');
  await onDatabase(async (pool) => {
    const { by } = await doerUnless(pool, { ...options, isOnlyTried: options.dryRun ?? false }, ['finance']);
    const asked = { ...options, by };
    const run = file === undefined ? () => askStripe(pool, asked) : () => readStripe(pool, file, asked);
    const result = await withReadableFaults(run);
    print(result, await digest(pool, result), options);
  });
}

async function readStripe(pool: pg.Pool, file: string, options: DoneOptions): Promise<ReportImport> {
  const days = requireDays(options, await todayIn(pool, 'UTC'));
  return importStripeCsv(pool, sourceOf(file), { ...importOptions('stripe', options), days });
}

function askStripe(pool: pg.Pool, { from, by }: DoneOptions): Promise<ReportImport> {
  const reader = new ConfigReader(process.env);
  const { stripe } = reader.finish(readPaymentsConfig(reader));
  if (!stripe)
    throw new OperatorError('Set STRIPE_SECRET_KEY and STRIPE_WEBHOOK_SECRET to import from Stripe.');
  const since = from === undefined ? null : new Date(`${from}T00:00:00Z`);
  return importFromStripe(pool, stripe, { from: since, actor: by, onProgress: showCount });
}

async function importBank(
  accountId: string,
  file: string,
  options: FileOptions & { mapping?: BankMapping },
): Promise<void> {
  if (!/^[a-z0-9][a-z0-9-]{0,39}$/.test(accountId))
    throw new OperatorError('The name of an account must be 1 to 40 characters: a-z, 0-9 and -.');
  await onDatabase(async (pool) => {
    const { mapping } = options;
    const { by } = await doerUnless(pool, { ...options, isOnlyTried: options.dryRun ?? false }, ['finance']);
    const source = sourceOf(file);
    const zone = (mapping ?? (await usableMapping(pool, accountId))).timeZone;
    const days = requireDays(options, await todayIn(pool, zone));
    const kept = { ...importOptions(`bank:${accountId}`, { ...options, by }), days };
    const result = await withReadableFaults(() => importBankCsv(pool, { accountId, source, mapping }, kept));
    print(result, await digest(pool, result), options);
  });
}

function importOptions(
  subject: string,
  { dryRun = false, by: actor }: DoneOptions,
): Omit<FileImport, 'days'> {
  return { actor, dryRun, onProgress: showCount, inTransaction: auditedAs(subject, actor, null) };
}

/** Posts what the report contains, and matches the bank with it. */
async function digest(pool: pg.Pool, { reportId }: ReportImport): Promise<Digest | null> {
  if (reportId === null) return null;
  const reader = new ConfigReader(process.env);
  const { currency } = reader.finish(readPaymentsConfig(reader));
  const { lines, unexplained } = await postReportLines(pool, { currency });
  return { posted: lines, unexplained, matchedAtBank: await matchBankLines(pool, currency) };
}

interface Digest {
  posted: number;
  unexplained: Unexplained[];
  matchedAtBank: number;
}

function print(result: ReportImport, digested: Digest | null, { json }: { json?: boolean }): void {
  showProgress();
  const unexplained = (digested?.unexplained ?? []).map(({ amountMinor, currency, ...item }) => ({
    ...item,
    amount: formatMinor(amountMinor, currency),
    currency,
  }));
  const { missingPayouts = [] } = result;
  if (json) {
    const { posted = 0, matchedAtBank = 0 } = digested ?? {};
    return printJson({ ...viewImport(result), posted, matchedAtBank, unexplained, missingPayouts });
  }
  const warnings = unexplained.map(
    ({ amount, currency, provider, lineId, itemId }) =>
      `${amount} ${currency} of ${provider} (${lineId}) cannot be explained: suspense ${itemId}`,
  );
  const missing = missingPayouts.map(
    ({ payoutId, reason }) => `The contents of the payout ${payoutId} could not be fetched: ${reason}`,
  );
  printText([importText(result, digested), ...warnings, ...missing].join('\n'));
}

function importText(result: ReportImport, digested: Digest | null): string {
  const { lines, added, changed, covers } = viewImport(result);
  const pairs: [string, string][] = [
    ['Lines', String(lines)],
    ['New', `${added}${digested === null ? ' (nothing was kept)' : ''}`],
    ['Changed', String(changed)],
    ['Whole', covers ? `${covers.from ?? 'the beginning'} to ${covers.to}` : 'no time'],
  ];
  if (digested !== null) {
    pairs.push(['Posted', `${digested.posted} lines`]);
    pairs.push(['Matched', `${digested.matchedAtBank} lines at the bank`]);
  }
  return facts(pairs);
}

/** Prints each faulty row on its own line. */
async function withReadableFaults(run: () => Promise<ReportImport>): Promise<ReportImport> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof ReportRefused)) throw error;
    throw new OperatorError(['Nothing was imported.', ...error.faults.map(faultText)].join('\n'));
  }
}

function showCount(lines: number): void {
  showProgress(`${lines} lines`);
}

function sourceOf(file: string): FileSource {
  if (!existsSync(file)) throw new OperatorError(`There is no file ${file}.`);
  return () => createReadStream(file);
}

function mappingArgument(text: string): BankMapping {
  try {
    return bankMapping.parse(JSON.parse(text.trim().startsWith('{') ? text : readFileSync(text, 'utf8')));
  } catch (error) {
    const why = error instanceof z.ZodError ? z.prettifyError(error) : (error as Error).message;
    throw new InvalidArgumentError(`This is not a mapping: ${why}`);
  }
}
