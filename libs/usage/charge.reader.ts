import type pg from 'pg';
import { type Nanos, nanos, parseDecimal } from '#money/amount.js';
import { chargeReference } from '#ledger/charges/charge.js';
import type { Family } from '#pricing/price-book.js';
import type { ChargeLine } from '#pricing/quote.js';
import type { Dimensions } from '#pricing/rates.js';

interface StoredTask {
  id: string;
  state: string;
  createdAt: Date;
  endedAt: Date | null;
}

interface StoredRefund {
  id: string;
  amount: Nanos;
  at: Date;
  reason: string;
}

interface StoredTransaction {
  id: bigint;
  kind: string;
  reference: string;
  at: Date;
  entries: { ledgerAccount: string; amount: Nanos; balanceAfter: Nanos | null }[];
}

/** A charge as stored, with its task and refunds. Null where a refused request has nothing. */
export interface FoundCharge {
  id: string;
  accountId: string;
  keyId: string | null;
  requestId: string | null;
  requestedModel: string | null;
  model: string | null;
  group: string | null;
  family: Family | null;
  state: 'refused' | 'held' | 'settled' | 'released';
  rule: 'list' | 'fixed_per_call' | null;
  units: bigint | null;
  /** The requested properties that rates may depend on; null: none. */
  dimensions: Dimensions | null;
  unitPrice: string | null;
  multiplier: string | null;
  lines: ChargeLine[] | null;
  priceVersionId: bigint | null;
  multiplierVersionId: bigint | null;
  groupRuleVersionId: bigint | null;
  amount: Nanos;
  settled: Nanos | null;
  released: Nanos | null;
  operatorLoss: Nanos;
  deliveredUnits: bigint | null;
  deliveredLines: ChargeLine[] | null;
  refusalCode: string | null;
  refusalMessage: string | null;
  reason: string | null;
  upstreamStatus: number | null;
  latencyMs: number | null;
  channel: string | null;
  createdAt: Date;
  /** The same to the microsecond, in milliseconds, to compare with versions. */
  createdAtMs: number;
  resolvedAt: Date | null;
  task: StoredTask | null;
  refunds: StoredRefund[];
}

/** The same with its postings. */
export interface ChargeRecord extends FoundCharge {
  transactions: StoredTransaction[];
}

const FIND = `SELECT c.id, c.account_id AS "accountId", c.key_id AS "keyId", c.request_id AS "requestId",
    c.requested_model AS "requestedModel", c.model_id AS model, c.group_name AS "group",
    coalesce(c.family, m.family) AS family, c.state, c.rule, c.units, c.dimensions, trim_scale(c.unit_price)::text AS "unitPrice",
    trim_scale(c.multiplier)::text AS multiplier, c.lines, c.price_version_id AS "priceVersionId",
    c.multiplier_version_id AS "multiplierVersionId", c.group_rule_version_id AS "groupRuleVersionId", c.amount,
    c.settled, c.released, c.operator_loss AS "operatorLoss", c.delivered_units AS "deliveredUnits",
    c.delivered_lines AS "deliveredLines", c.refusal_code AS "refusalCode", c.refusal_message AS "refusalMessage",
    c.resolution_reason AS reason, c.upstream_status AS "upstreamStatus", c.latency_ms AS "latencyMs",
    c.channel_id AS channel, c.created_at AS "createdAt", c.resolved_at AS "resolvedAt",
    (extract(epoch FROM c.created_at) * 1000)::float8 AS "createdAtMs", c.task_id AS "taskId", t.state AS "taskState",
    t.created_at AS "taskCreatedAt", t.ended_at AS "taskEndedAt"
  FROM charges c LEFT JOIN models m ON m.id = c.model_id LEFT JOIN tasks t ON t.id = c.task_id
  WHERE c.id = $1 AND ($2::text IS NULL OR c.account_id = $2)`;

const REFUNDS = `SELECT id, amount, recorded_at AS at, reason FROM charge_refunds WHERE charge_id = $1 ORDER BY seq`;

/** Found by the references of postings, which are unique, and by the refunds. */
const ENTRIES = `SELECT t.id, t.kind, t.reference, t.recorded_at AS at, a.code, e.amount, e.balance_after AS "balanceAfter"
  FROM ledger_transactions t
  JOIN ledger_entries e ON e.transaction_id = t.id
  JOIN ledger_accounts a ON a.id = e.ledger_account_id
  WHERE t.id IN (SELECT id FROM ledger_transactions WHERE reference = ANY ($2)
    UNION ALL SELECT transaction_id FROM charge_refunds WHERE charge_id = $1)
  ORDER BY t.id, e.ordinal`;

type Row = Omit<FoundCharge, 'lines' | 'deliveredLines' | 'task' | 'refunds'> & {
  lines: StoredLine[] | null;
  deliveredLines: StoredLine[] | null;
  taskId: string | null;
  taskState: string | null;
  taskCreatedAt: Date | null;
  taskEndedAt: Date | null;
};

interface StoredLine {
  kind: ChargeLine['kind'];
  units: string;
  unitPrice: string;
}

interface EntryRow extends Omit<StoredTransaction, 'entries'> {
  code: string;
  amount: bigint;
  balanceAfter: bigint | null;
}

/** A charge of an account, or of any account if none is given, with its postings; null if there is none. */
export async function readCharge(
  pool: pg.Pool,
  chargeId: string,
  accountId: string | null,
): Promise<ChargeRecord | null> {
  const charge = await findCharge(pool, chargeId, accountId);
  if (!charge) return null;
  const references = [chargeReference(chargeId, 'hold'), chargeReference(chargeId, 'resolve')];
  const { rows } = await pool.query<EntryRow>(ENTRIES, [chargeId, references]);
  return { ...charge, transactions: transactionsOf(rows, charge.accountId) };
}

/** The same without the postings, which not every program may read. */
export async function findCharge(
  pool: pg.Pool,
  chargeId: string,
  accountId: string | null,
): Promise<FoundCharge | null> {
  const { rows } = await pool.query<Row>(FIND, [chargeId, accountId]);
  const row = rows[0];
  if (!row) return null;
  const refunds = await pool.query<StoredRefund>(REFUNDS, [chargeId]);
  const { lines, deliveredLines, taskId, taskState, taskCreatedAt, taskEndedAt, ...rest } = row;
  const task =
    taskId && taskState && taskCreatedAt
      ? { id: taskId, state: taskState, createdAt: taskCreatedAt, endedAt: taskEndedAt }
      : null;
  return {
    ...rest,
    lines: linesOf(lines),
    deliveredLines: linesOf(deliveredLines),
    task,
    refunds: refunds.rows,
  };
}

/** One charge of a request. A request has one per model that was tried. */
export interface ChargeAttempt extends Pick<FoundCharge, 'id' | 'model' | 'state'> {
  /** Why this model did not serve it. */
  code: string | null;
}

/** The account's charges among these, in the order of `ids`. */
export async function findAttempts(
  pool: pg.Pool,
  ids: readonly string[],
  accountId: string,
): Promise<ChargeAttempt[]> {
  const { rows } = await pool.query<ChargeAttempt>(
    `SELECT id, model_id AS model, state, coalesce(refusal_code, resolution_reason) AS code
     FROM charges WHERE id = ANY ($1) AND account_id = $2 ORDER BY array_position($1, id)`,
    [ids, accountId],
  );
  return rows;
}

function linesOf(lines: StoredLine[] | null): ChargeLine[] | null {
  return (
    lines &&
    lines.map(({ kind, units, unitPrice }) => ({
      kind,
      units: BigInt(units),
      unitPrice: parseDecimal(unitPrice),
    }))
  );
}

function transactionsOf(rows: readonly EntryRow[], accountId: string): StoredTransaction[] {
  const transactions = new Map<bigint, StoredTransaction>();
  for (const { code, amount, balanceAfter, ...transaction } of rows) {
    const known = transactions.get(transaction.id) ?? { ...transaction, entries: [] };
    transactions.set(transaction.id, known);
    const ledgerAccount = code.replace(`customer:${accountId}:`, '');
    const balance = balanceAfter === null ? null : nanos(balanceAfter);
    known.entries.push({ ledgerAccount, amount: nanos(amount), balanceAfter: balance });
  }
  return [...transactions.values()];
}
