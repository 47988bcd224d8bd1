import type pg from 'pg';
import { currentHead } from '../chain/chain.js';
import { type Horizon, openReport, type Report } from '../postings/horizon.js';
import { beancountFormat } from './beancount.js';
import type { Books } from './books.js';
import { FullBooks } from './full-books.js';
import { hledgerFormat } from './hledger.js';
import type { JournalFormat } from './journal.js';
import { dayAfter, type Range, type RangeQuery, readRange } from './range.js';
import { csvFormat, jsonLinesFormat } from './rows.js';
import { SummaryBooks } from './summary-books.js';

export const exportFormats = {
  csv: csvFormat,
  jsonl: jsonLinesFormat,
  hledger: hledgerFormat,
  beancount: beancountFormat,
} as const satisfies Record<string, JournalFormat>;

export type ExportFormatName = keyof typeof exportFormats;

export interface ExportQuery extends RangeQuery {
  format: ExportFormatName;
  /** Only the transactions of one ledger account, each in full. Null means all. */
  ledgerAccountId: bigint | null;
  /** One transaction per day with all movements and customers' accounts combined, instead of every transaction. */
  summary: boolean;
  /** The currency of PAY, ISO 4217. */
  currency: string;
}

/** A slow reader can keep a database snapshot open, but not indefinitely. */
const IDLE_LIMIT = '5min';

/**
 * The journal of a time as text chunks, on one snapshot up to the horizon. Holds a few thousand transactions in memory, and
 * eight bytes per ledger account. A reader that stops early ends the snapshot. Throws database errors.
 */
export async function* exportLedger(pool: pg.Pool, query: ExportQuery): AsyncGenerator<string, void, void> {
  const report = await openReport(pool);
  try {
    await report.client.query(`SET LOCAL idle_in_transaction_session_timeout = '${IDLE_LIMIT}'`);
    await report.client.query('SET LOCAL cursor_tuple_fraction = 1');
    for await (const piece of pieces(report, query)) if (piece !== '') yield piece;
  } finally {
    await report.close();
  }
}

async function* pieces({ client, horizon }: Report, query: ExportQuery): AsyncGenerator<string> {
  const format: JournalFormat = exportFormats[query.format];
  const books: Books = query.summary ? new SummaryBooks(client, query) : new FullBooks(client, query);
  const range = await readRange(client, horizon, query);
  const about = aboutOf(range, query, horizon);
  const units = new Map((await books.units()).map((unit) => [unit.symbol, unit]));
  yield format.head({ about, chain: await currentHead(client) }, [...units.values()]);
  for await (const some of books.accounts(range)) yield some.map((each) => format.account(each)).join('');
  const extra = range && (await books.extraAccount());
  if (extra) yield format.account(extra);
  if (range === null) return;
  let isFirst = true;
  for await (const balances of books.opening(horizon, range)) {
    if (balances.length === 0) continue;
    yield format.opening(range.firstDay, balances, isFirst);
    isFirst = false;
  }
  for (let day = range.firstDay; day <= range.lastDay; day = dayAfter(day)) {
    for await (const transactions of books.transactions(range, day))
      yield transactions.map((each) => format.transaction(each)).join('');
    for await (const balances of books.closing()) yield format.balances(day, balances);
  }
}

function aboutOf(range: Range | null, { by = 'recorded' }: ExportQuery, horizon: Horizon): string {
  const words = `Ledger from ${range?.from ?? 'the beginning'} to ${range?.to ?? horizon.at}, ${by} time, UTC`;
  return by === 'effective' && range ? `${words}, as recorded before ${range.recordedBefore}` : words;
}
