import type pg from 'pg';
import { deferredCheck, type LotCheck, lotChecks } from '#ledger/lot-check.js';
import { formatAmount } from '#money/amount.js';
import type { Control, ControlItem, ControlResult } from '../control.js';

/** Lots of credit as they are stored, against what was bought, what left them and what used them. */
export const lotsControl: Control = {
  id: 'lots',
  title: 'Lots of credit',
  explanation:
    'Each lot is what was bought less what was refunded and charged back, is used as its uses say, and is recognised in proportion, rounded down; unused credits of an account, less uses that found none, are its main and held balances. All of it is compared, whatever the time that is asked for. An item is a fault of the books; a stuck account goes on by itself once the fault is put right.',
  every: 'day',
  check: (client, { limit }) => findRows(client, lotChecks, limit),
};

/** The balance of deferred revenue against the lots. */
export const deferredRevenueControl: Control = {
  id: 'deferred-revenue',
  title: 'Deferred revenue',
  explanation:
    'Deferred revenue is what was paid for lots, less what left them and what was recognised of them, to the last unit; and it is never below zero. Look at postings on deferred-revenue that have no lot, refund or use behind them.',
  check: (client, { limit }) => findRows(client, [deferredCheck, belowZero], limit),
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
  limit: number,
): Promise<ControlResult> {
  let count = 0;
  const items: ControlItem[] = [];
  for (const check of checks) {
    const { rows } = await client.query<Row & { total: string }>(
      `WITH found AS MATERIALIZED (${check.sql}) SELECT *, (SELECT count(*) FROM found)::text AS total FROM found LIMIT $1`,
      [limit],
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
    ...{ subject, state },
    message: `${message.slice(0, 1).toUpperCase()}${message.slice(1)}.`,
    details: Object.fromEntries(Object.entries(row).map(([column, value]) => [column, told(column, value)])),
    transactionIds: transaction_id === null ? [] : [BigInt(transaction_id)],
  };
}

const NANOS = /^((expected_)?(credits|used)|unused|unmet|main_and_held)$/;
const MINOR = /minor|amount|deferred|bought|changed|recognised|pending|^expected$/;

function told(column: string, value: string | null): string | null {
  if (value === null || !/^-?\d+$/.test(value)) return value;
  if (NANOS.test(column)) return `${formatAmount(BigInt(value))} CRD`;
  return MINOR.test(column) ? `${value} minor units` : value;
}
