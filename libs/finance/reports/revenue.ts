import type pg from 'pg';
import { atHorizon, type Horizon, openReport } from '#ledger/postings/horizon.js';
import { readTrialBalance } from '#ledger/reports/trial-balance.js';
import { NANOS_PER_UNIT } from '#money/amount.js';
import { minorDigits } from '#money/currency.js';
import { REVENUE_FACTS } from './revenue-days.js';

export const revenueDimensions = ['day', 'family', 'model', 'group', 'channel', 'account'] as const;
export type RevenueDimension = (typeof revenueDimensions)[number];

/** The currency of UPC. */
const COST_CURRENCY = 'USD';
const NANO_DIGITS = 9;

/** UTC days, such as 2026-01-31. */
export interface Days {
  /** The first. */
  from: string;
  /** The day after the last. */
  to: string;
}

export interface RevenueQuery extends Days {
  /** What rows are grouped by. Empty for a single row. */
  by: readonly RevenueDimension[];
  /** The maximum number of rows. Null for all. */
  limit: number | null;
}

/** Counts, nanos of CRD earned, and nanos of UPC that they cost. Credits and money are never added together. */
export interface Earned {
  /** Charges that were settled, and charges that were released because their work failed. */
  charges: bigint;
  failedCharges: bigint;
  /** Delivered calls or seconds; tokens for metered work. */
  units: bigint;
  gross: bigint;
  /** Refunds after settlement, by the time of the refund. */
  refunds: bigint;
  /** Costs of delivered work, and of failed work that the upstream bills. */
  cost: bigint;
  failedCost: bigint;
}

export interface RevenueRow extends Earned {
  /** The requested dimensions, in order. The channel is null if no upstream was named. */
  by: Partial<Record<RevenueDimension, string | null>>;
}

/** The movements of the ledger accounts in the same days. */
interface LedgerRevenue {
  /** usage:*, usage-refund, expense:upstream:* and expense:upstream-failed:*, positive. */
  gross: bigint;
  refunds: bigint;
  cost: bigint;
  failedCost: bigint;
  /** The movement of revenue:* in minor units of the payment currency: what was paid for the used credits. */
  recognisedMinor: bigint;
}

export interface RevenueReport extends Days {
  /** Complete for everything that happened before this time. Days that are not over can still change. PostgreSQL text. */
  completeTo: string;
  /** Costs are recorded for everything that ended before this time. */
  costsTo: string;
  /** Ordered by day if requested, then by revenue. */
  rows: RevenueRow[];
  /** Whether there are more rows than the limit. */
  truncated: boolean;
  /** Totals of all rows, including those beyond the limit. */
  totals: Earned;
  /** Billed above or below recorded costs, posted with the bills. */
  billDifference: bigint;
  /** Charges of these days with unknown cost. */
  unknownCosts: bigint;
  ledger: LedgerRevenue;
  /** Whether the rows match the ledger. */
  agrees: boolean;
}

export function netOf({ gross, refunds }: Earned): bigint {
  return gross - refunds;
}

/** Upstream costs of delivered and failed work. */
function costOf({ cost, failedCost }: Earned): bigint {
  return cost + failedCost;
}

/** The cost per net credit in nanos of UPC, truncated. Null if there was no revenue. */
export function costPerCredit(earned: Earned): bigint | null {
  const net = netOf(earned);
  return net === 0n ? null : (costOf(earned) * NANOS_PER_UNIT) / net;
}

/** Gross per unit in nanos, truncated. Null if nothing was delivered. */
export function averagePrice({ gross, units }: Earned): bigint | null {
  return units === 0n ? null : gross / units;
}

/**
 * The margin in nanos of money: recognised revenue minus upstream costs. Null if payments and costs are in different
 * currencies.
 */
export function moneyMargin(
  { recognisedMinor, cost }: { recognisedMinor: bigint; cost: bigint },
  currency: string,
): { revenue: bigint; margin: bigint } | null {
  if (currency !== COST_CURRENCY) return null;
  const revenue = recognisedMinor * 10n ** BigInt(NANO_DIGITS - minorDigits(currency));
  return { revenue, margin: revenue - cost };
}

/** The same for a report, with the margin in hundredths of a percent of revenue, truncated. */
export function marginOf(
  { totals, ledger: { recognisedMinor } }: Pick<RevenueReport, 'totals' | 'ledger'>,
  currency: string,
): { margin: bigint; basisPoints: bigint | null } | null {
  const found = moneyMargin({ recognisedMinor, cost: costOf(totals) }, currency);
  if (found === null) return null;
  const { revenue, margin } = found;
  return { margin, basisPoints: revenue === 0n ? null : (margin * 10_000n) / revenue };
}

/** Revenue of days, by any dimensions. It is compared with the ledger, and says whether they match. */
export function revenueReport(pool: pg.Pool, query: RevenueQuery): Promise<RevenueReport> {
  return atHorizon(pool, (client, horizon) => report(client, horizon, query));
}

/** The same on the caller's open snapshot. */
async function report(client: pg.ClientBase, horizon: Horizon, query: RevenueQuery): Promise<RevenueReport> {
  const { from, to, limit } = query;
  await useIndexes(client);
  const most = limit === null ? null : limit + 1;
  const { rows: found } = await client.query<Row>(rowsSql(query.by), [from, to, most]);
  const rows = found.map((row) => toRow(row, query.by));
  const truncated = limit !== null && rows.length > limit;
  const { rows: sums } = await client.query<Row>(rowsSql([]), [from, to, null]);
  const totals = toEarned(sums[0]);
  const others = await readOthers(client, query);
  const ledger = await ledgerRevenue(client, query);
  const agrees = isSame({ ...totals, cost: totals.cost + others.billDifference }, ledger);
  return {
    from,
    to,
    completeTo: horizon.at,
    ...others,
    rows: truncated ? rows.slice(0, limit) : rows,
    truncated,
    totals,
    ledger,
    agrees,
  };
}

function isSame(counted: Earned, ledger: LedgerRevenue): boolean {
  const names = ['gross', 'refunds', 'cost', 'failedCost'] as const;
  return names.every((name) => counted[name] === ledger[name]);
}

/** Rows fetched at once from the database. */
const SLICE = 1_000;

/** Streams all rows for files, in constant memory. */
export async function* revenueRows(
  pool: pg.Pool,
  query: Omit<RevenueQuery, 'limit'>,
): AsyncGenerator<RevenueRow> {
  const { client, close } = await openReport(pool);
  try {
    await useIndexes(client);
    await client.query(`DECLARE revenue NO SCROLL CURSOR FOR ${rowsSql(query.by)}`, [
      query.from,
      query.to,
      null,
    ]);
    for (;;) {
      const { rows } = await client.query<Row>(`FETCH ${SLICE} FROM revenue`);
      for (const row of rows) yield toRow(row, query.by);
      if (rows.length < SLICE) return;
    }
  } finally {
    await close();
  }
}

/** The days read from the books are few compared to all days, whatever the planner knows about the tables. */
async function useIndexes(client: pg.ClientBase): Promise<void> {
  await client.query('SET LOCAL enable_seqscan = off');
}

const COLUMN_OF: Record<RevenueDimension, string> = {
  day: 'day::text',
  family: 'family',
  model: 'model_id',
  group: 'group_name',
  channel: 'channel_id',
  account: 'account_id',
};

function rowsSql(by: readonly RevenueDimension[]): string {
  const columns = by.map((name) => `${COLUMN_OF[name]} AS "by_${name}"`);
  const grouped = by.map((name) => COLUMN_OF[name]);
  const order = [...(by.includes('day') ? ['day'] : []), 'sum(gross) DESC', ...grouped];
  return `SELECT ${columns.map((column) => `${column}, `).join('')}
      coalesce(sum(charges), 0)::text AS charges, coalesce(sum(failed_charges), 0)::text AS "failedCharges",
      coalesce(sum(units), 0)::text AS units, coalesce(sum(gross), 0)::text AS gross, coalesce(sum(refunds), 0)::text AS refunds,
      coalesce(sum(cost), 0)::text AS cost, coalesce(sum(failed_cost), 0)::text AS "failedCost"
    FROM (${REVENUE_FACTS}) AS facts
    ${by.length > 0 ? `GROUP BY ${grouped.join(', ')}${by.includes('day') ? ', day' : ''} ORDER BY ${order.join(', ')}` : ''}
    LIMIT $3`;
}

type Row = Record<keyof Earned, string> & Partial<Record<`by_${RevenueDimension}`, string | null>>;

function toRow(row: Row, by: readonly RevenueDimension[]): RevenueRow {
  return {
    by: Object.fromEntries(by.map((name) => [name, row[`by_${name}`] ?? null])),
    ...toEarned(row),
  };
}

function toEarned(row: Row | undefined): Earned {
  const read = (name: keyof Earned): bigint => BigInt(row?.[name] ?? 0);
  return {
    charges: read('charges'),
    failedCharges: read('failedCharges'),
    units: read('units'),
    gross: read('gross'),
    refunds: read('refunds'),
    cost: read('cost'),
    failedCost: read('failedCost'),
  };
}

async function readOthers(
  client: pg.ClientBase,
  { from, to }: Days,
): Promise<{ billDifference: bigint; unknownCosts: bigint; costsTo: string }> {
  const { rows } = await client.query<{ difference: string; unknown: string; through: string }>(
    `SELECT (SELECT coalesce(sum(b.amount - b.accrued), 0)::text FROM upstream_bills b
         JOIN ledger_transactions t ON t.id = b.transaction_id
         WHERE t.effective_at >= d.from AND t.effective_at < d.to) AS difference,
       (SELECT count(*)::text FROM unknown_costs WHERE ended_at >= d.from AND ended_at < d.to) AS unknown,
       (SELECT through::text FROM cost_progress) AS through
     FROM (SELECT $1::timestamp AT TIME ZONE 'UTC' AS from, $2::timestamp AT TIME ZONE 'UTC' AS to) AS d`,
    [from, to],
  );
  const { difference, unknown, through } = rows[0] as (typeof rows)[number];
  return { billDifference: BigInt(difference), unknownCosts: BigInt(unknown), costsTo: through };
}

/**
 * The movements of revenue and upstream accounts in days, by effective time. Each fact is written together with its posting, so
 * on one snapshot both sides have the same facts, even beyond the horizon.
 */
async function ledgerRevenue(client: pg.ClientBase, { from, to }: Days): Promise<LedgerRevenue> {
  const everything: Horizon = { at: 'infinity', lastLedgerId: 0n };
  const read = (day: string) =>
    readTrialBalance(client, everything, { by: 'effective', at: new Date(`${day}T00:00:00Z`) });
  const [opening, closing] = [await read(from), await read(to)];
  const before = new Map(opening.balances.map(({ code, balance }) => [code, balance]));
  const moved = (pattern: RegExp): bigint =>
    closing.balances
      .filter(({ code }) => pattern.test(code))
      .reduce((sum, { code, balance }) => sum + balance - (before.get(code) ?? 0n), 0n);
  return {
    gross: moved(/^usage:/),
    refunds: -moved(/^usage-refund$/),
    cost: -moved(/^expense:upstream:/),
    failedCost: -moved(/^expense:upstream-failed:/),
    recognisedMinor: moved(/^revenue:/),
  };
}
