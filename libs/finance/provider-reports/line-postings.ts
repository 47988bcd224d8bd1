import type pg from 'pg';
import { inTransaction } from '#database/database.js';
import { lockOne } from '#database/locks.js';
import { type Posting, post } from '#ledger/postings/posting.js';
import { bookSuspense } from '#ledger/postings/suspense.js';
import type { LineType, ReportingProvider } from './report-line.js';

/** Movements at a provider that our books cannot explain: people must look at this money. */
export interface Unexplained {
  provider: ReportingProvider;
  lineId: string;
  itemId: string;
  amountMinor: bigint;
  currency: string;
}

export interface Posted {
  lines: number;
  unexplained: Unexplained[];
}

/** The number of lines posted in one transaction. */
const CHUNK = 200;

/**
 * Posts what only the provider's report knows, once for each line and at the time of the event: fees (Dr expense:psp-fee / Cr
 * psp), payouts (Dr bank / Cr psp) and those that came back, and into suspense what nobody can explain. Payments, refunds and
 * disputes are posted where they are known first; here they only cost fees. The next call does what a crash left undone. Several
 * can run at once.
 * @param currency of the house, ISO 4217: another one has accounts of its own
 */
export async function postReportLines(
  pool: pg.Pool,
  { currency, signal }: { currency: string; signal?: AbortSignal },
): Promise<Posted> {
  const posted: Posted = { lines: 0, unexplained: [] };
  for (let more = true; more && !signal?.aborted;) {
    const chunk = await inTransaction(pool, (client) => postChunk(client, currency));
    posted.lines += chunk.lines;
    posted.unexplained.push(...chunk.unexplained);
    more = chunk.lines === CHUNK;
  }
  return posted;
}

interface WaitingLine {
  line: bigint;
  provider: ReportingProvider;
  lineId: string;
  type: LineType;
  amountMinor: bigint;
  feeMinor: bigint;
  currency: string;
  subjectId: string;
  /** Not later than now, because a payout gives the time at which it will arrive. */
  happenedAt: string;
}

async function postChunk(client: pg.PoolClient, house: string): Promise<Posted> {
  await lockOne(client, 'provider-postings');
  const lines = await readWaiting(client);
  if (lines.length === 0) return { lines: 0, unexplained: [] };
  const planned = await withoutRepeats(
    client,
    lines.flatMap((line) => planLine(line, house)),
  );
  await openAccounts(client, lines, house);
  const noted: Parameters<typeof notePostings>[1][number][] = [];
  // One after the other: a connection does one thing at a time, and the first refusal must be the one reported.
  for (const { line, posting } of planned)
    noted.push({ line, kind: posting.kind, transactionId: await post(client, posting) });
  await notePostings(client, noted);
  const unexplained: Unexplained[] = [];
  for (const line of lines) {
    const item = await suspend(client, line, house);
    if (item) unexplained.push(item);
  }
  await client.query('DELETE FROM provider_line_work WHERE line = ANY($1::bigint[])', [
    lines.map(({ line }) => line.toString()),
  ]);
  return { lines: lines.length, unexplained };
}

async function readWaiting(client: pg.ClientBase): Promise<WaitingLine[]> {
  const { rows } = await client.query<WaitingLine>(
    `SELECT w.line, l.provider, l.line_id AS "lineId", l.type, l.amount_minor AS "amountMinor", l.fee_minor AS "feeMinor",
       l.currency, l.subject_id AS "subjectId", to_char(least(l.happened_at, clock_timestamp()) AT TIME ZONE 'UTC',
         'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS "happenedAt"
     FROM provider_line_work w JOIN provider_report_lines l ON l.id = w.line ORDER BY w.line LIMIT $1`,
    [CHUNK],
  );
  return rows;
}

interface Planned {
  line: bigint;
  posting: Posting;
}

function planLine(line: WaitingLine, house: string): Planned[] {
  const { provider, lineId, type, amountMinor, subjectId, happenedAt: effectiveAt } = line;
  const [psp, bank, expense] = [`psp:${provider}`, 'bank', 'expense:psp-fee'].map((code) =>
    accountIn(code, { currency: line.currency, house }),
  ) as [string, string, string];
  const fee = type === 'fee' ? line.feeMinor - amountMinor : line.feeMinor;
  const between = (code: string, amount: bigint): Posting['movements'] => [
    { code, commodity: 'PAY', amount: -amount },
    { code: psp, commodity: 'PAY', amount },
  ];
  const plan = (kind: Posting['kind'], id: string, movements: Posting['movements']): Planned => ({
    line: line.line,
    posting: { kind, reference: `${kind}:${provider}:${id}`, accountId: null, effectiveAt, movements },
  });
  const planned: Planned[] = [];
  if (fee !== 0n) planned.push(plan('psp-fee', lineId, between(expense, fee)));
  if (type === 'payout' && amountMinor !== 0n) {
    planned.push(plan('payout', subjectId, between(bank, -amountMinor)));
  }
  if (type === 'payout_failure' && amountMinor !== 0n) {
    planned.push(plan('payout-returned', subjectId, between(bank, -amountMinor)));
  }
  return planned;
}

/** Money of another currency than the house's has accounts of its own, since one account never mixes currencies. */
export function accountIn(code: string, { currency, house }: { currency: string; house: string }): string {
  return currency === house ? code : `${code}:${currency}`;
}

/** A payout that is reported twice, under two lines, is posted once; the report of payouts shows it. */
async function withoutRepeats(client: pg.ClientBase, planned: Planned[]): Promise<Planned[]> {
  const { rows } = await client.query<{ reference: string }>(
    'SELECT reference FROM ledger_transactions WHERE reference = ANY($1::text[])',
    [planned.map(({ posting }) => posting.reference)],
  );
  const seen = new Set(rows.map(({ reference }) => reference));
  return planned.filter(({ posting: { reference } }) => !seen.has(reference) && seen.add(reference));
}

export async function openAccounts(
  client: pg.ClientBase,
  lines: readonly Pick<WaitingLine, 'provider' | 'currency'>[],
  house: string,
): Promise<void> {
  const foreign = lines.filter(({ currency }) => currency !== house);
  if (foreign.length === 0) return;
  const codes = foreign.flatMap(({ provider, currency }) => [
    [`psp:${provider}:${currency}`, 'asset'],
    [`bank:${currency}`, 'asset'],
    [`expense:psp-fee:${currency}`, 'expense'],
  ]);
  await client.query(
    `INSERT INTO ledger_accounts (code, commodity, kind)
     SELECT DISTINCT code, 'PAY', kind FROM unnest($1::text[], $2::text[]) AS a (code, kind) ON CONFLICT (code) DO NOTHING`,
    [codes.map(([code]) => code), codes.map(([, kind]) => kind)],
  );
}

async function notePostings(
  client: pg.ClientBase,
  postings: readonly { line: bigint; kind: string; transactionId: bigint }[],
): Promise<void> {
  await client.query(
    `INSERT INTO provider_line_postings (line, kind, transaction_id)
     SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[])`,
    [
      postings.map(({ line }) => line.toString()),
      postings.map(({ kind }) => kind),
      postings.map(({ transactionId }) => transactionId.toString()),
    ],
  );
}

async function suspend(client: pg.ClientBase, line: WaitingLine, house: string): Promise<Unexplained | null> {
  const { provider, lineId, type, amountMinor, currency, happenedAt } = line;
  if (type !== 'adjustment' || amountMinor === 0n) return null;
  const money = { amountMinor, currency, happenedAt };
  const item = { ...money, provider, reference: lineId, orderId: null, why: 'provider_adjustment' } as const;
  const { itemId, transactionId } = await bookSuspense(client, item, house);
  await notePostings(client, [{ line: line.line, kind: 'suspense', transactionId }]);
  return { provider, lineId, itemId, amountMinor, currency };
}
