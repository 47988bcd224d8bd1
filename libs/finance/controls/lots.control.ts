import type pg from 'pg';
import { deferredCheck, type LotCheck, lotChecks } from '#ledger/checks/lot-check.js';
import { formatAmount } from '#money/amount.js';
import type { Control, ControlItem, ControlResult } from '../control.js';

/** Compares the stored credit lots with what was bought, what left them and what used them. */
export const lotsControl: Control = {
  id: 'lots',
  title: 'Lots of credit',
  explanation:
    'Each lot must equal what was bought minus refunds, its uses must add up, and it must be recognized in proportion, rounded down.',
  states: lotChecks.map(({ state }) => state),
  every: 'day',
  check: (client, { limit }) => findRows(client, lotChecks, { limit }),
};

/** Compares the balance of deferred revenue with the lots, and each posting with the lots, refunds and uses behind it. */
export const deferredRevenueControl: Control = {
  id: 'deferred-revenue',
  title: 'Deferred revenue',
  explanation:
    'Deferred revenue must equal the payments for lots minus what left them and what was recognized, to the last unit. It must never be below zero.',
  states: ['posting_differs', 'deferred_differs', 'below_zero'],
  window: true,
  check: async (client, { limit, scope, since }) => {
    const postings = await findRows(client, [postingCheck], { limit, values: [since ?? '-infinity'] });
    if (scope === 'recent') return postings;
    const sums = await findRows(client, [deferredCheck, belowZero], { limit });
    return {
      count: sums.count + postings.count,
      items: [...sums.items, ...postings.items].slice(0, limit),
    };
  },
};

/** $1: only transactions recorded from then on. Those of charges do not move payments. */
const postingCheck: LotCheck = {
  state: 'posting_differs',
  message: 'a posting on deferred revenue is not what the lots, refunds and uses behind it come to',
  sql: `WITH recent AS MATERIALIZED (
          SELECT id, recorded_at FROM ledger_transactions
          WHERE recorded_at >= $1::timestamptz AND kind NOT IN ('hold', 'settle', 'release') AND kind NOT LIKE 'debt-covered%'),
        posted AS (
          SELECT e.transaction_id AS id, sum(e.amount) AS amount FROM recent r JOIN ledger_entries e ON e.transaction_id = r.id
          WHERE e.ledger_account_id = (SELECT id FROM ledger_accounts WHERE code = 'deferred-revenue') GROUP BY 1),
        expected AS (
          SELECT id, sum(minor) AS amount FROM (
            SELECT transaction_id AS id, paid_minor AS minor FROM credit_lots
            UNION ALL SELECT transaction_id, paid_minor FROM credit_lot_changes WHERE kind <> 'debt'
            UNION ALL SELECT transaction_id, paid_minor FROM topup_refunds
            UNION ALL SELECT ended_transaction_id, -paid_minor FROM topup_refunds WHERE ended_transaction_id IS NOT NULL
            UNION ALL SELECT recognition_id, -minor FROM lot_uses
            WHERE recognition_id >= (SELECT min(id) FROM recent)) AS behind
          WHERE id IN (SELECT id FROM recent) GROUP BY id)
        SELECT id::text AS transaction_id, coalesce(p.amount, 0)::text AS amount, coalesce(x.amount, 0)::text AS expected,
          to_char(r.recorded_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at
        FROM posted p FULL JOIN expected x USING (id) JOIN recent r USING (id)
        WHERE coalesce(p.amount, 0) <> coalesce(x.amount, 0) ORDER BY id`,
};

const belowZero: LotCheck = {
  state: 'below_zero',
  message: 'deferred revenue is below zero',
  sql: `SELECT sum(e.amount)::text AS deferred FROM ledger_accounts a JOIN ledger_entries e ON e.ledger_account_id = a.id
        WHERE a.code = 'deferred-revenue' HAVING sum(e.amount) < 0`,
};

type Row = Record<string, string | null>;

async function findRows(
  client: pg.ClientBase,
  checks: readonly LotCheck[],
  { limit, values = [] }: { limit: number; values?: readonly string[] },
): Promise<ControlResult> {
  let count = 0;
  const items: ControlItem[] = [];
  for (const check of checks) {
    const { rows } = await client.query<Row & { total: string }>(
      `WITH found AS MATERIALIZED (${check.sql}) SELECT *, (SELECT count(*) FROM found)::text AS total FROM found LIMIT ${limit}`,
      [...values],
    );
    count += Number(rows[0]?.total ?? 0);
    items.push(...rows.map(({ total: _, ...row }) => itemOf(check, row)));
  }
  return { count, items: items.slice(0, limit) };
}

function itemOf({ state, message }: LotCheck, row: Row): ControlItem {
  const { lot_id = null, account_id = null, transaction_id = null } = row;
  const subject = lot_id
    ? `lot:${lot_id}`
    : account_id
      ? `account:${account_id}`
      : transaction_id
        ? `transaction:${transaction_id}`
        : 'ledger-account:deferred-revenue';
  return {
    subject,
    state,
    message: `${message.slice(0, 1).toUpperCase()}${message.slice(1)}.`,
    details: Object.fromEntries(Object.entries(row).map(([column, value]) => [column, shown(column, value)])),
    transactionIds: transaction_id === null ? [] : [BigInt(transaction_id)],
    at: row['at'] ?? null,
  };
}

const NANOS = /^((expected_)?(credits|used)|unused|unmet|main_and_held)$/;
const MINOR = /minor|amount|deferred|bought|changed|recognised|pending|^expected$/;

function shown(column: string, value: string | null): string | null {
  if (value === null || !/^-?\d+$/.test(value)) return value;
  if (NANOS.test(column)) return `${formatAmount(BigInt(value))} CRD`;
  return MINOR.test(column) ? `${value} minor units` : value;
}
