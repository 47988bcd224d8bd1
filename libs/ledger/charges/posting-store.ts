import type pg from 'pg';
import { crashPoint } from '#platform/crash-points.js';
import { nanos, parseDecimal } from '#money/amount.js';
import type { Family, PriceBook } from '#pricing/price-book.js';
import type { LineKind } from '#pricing/quote.js';
import {
  type BatchPlan,
  type BatchState,
  type Command,
  type KeyState,
  type LockedBalance,
  linesJson,
  quoteColumns,
} from './batch-plan.js';
import { chargeAnnouncements } from './announcements.js';
import type { HoldCommand, StoredCharge } from './charge.js';

/**
 * The SQL of the posting engine: set-based, in named statements. Lock order everywhere: charges, customer balances,
 * key spend, each sorted; the locks are taken in one statement and read in the next (design.md 6).
 */

/** A charge of this batch was inserted or resolved by somebody else meanwhile: roll back and run the batch again. */
export class BatchConflict extends Error {
  constructor() {
    super('a charge of the batch was written by another process');
    this.name = 'BatchConflict';
  }
}

/**
 * Every statement of a batch reaches its rows by their keys. Its plan is made once for a connection and kept, often while
 * the tables are still empty, when reading a whole table looks cheaper; it must not be kept for when they are not.
 */
const BEGIN =
  'BEGIN; SET LOCAL enable_seqscan = off; SELECT pg_advisory_xact_lock_shared(catalog_lock_key())';

const LOCK_CHARGES = {
  name: 'ledger-lock-charges',
  text: `SELECT id, account_id AS "accountId", state, input_hash AS "inputHash", key_id AS "keyId", family,
      model_id AS model, group_name AS "group", units::text, unit_price::text AS "unitPrice", multiplier::text AS multiplier, lines,
      amount::text, settled::text, released::text, refusal_code AS "refusalCode", refusal_message AS "refusalMessage",
      task_id AS "taskId", to_char(date_trunc('month', created_at AT TIME ZONE 'UTC'), 'YYYY-MM-DD') AS "heldMonth"
    FROM charges WHERE id = ANY($1::text[]) ORDER BY id FOR UPDATE`,
};

const LOCK_BALANCES = {
  name: 'ledger-lock-balances',
  text: `SELECT account_id AS "accountId", main::text, held::text, frozen, monthly_limit::text AS "monthlyLimit",
      low_balance_threshold::text AS "lowThreshold", low_balance_told AS "lowTold",
      main_ledger_id::text AS "mainLedgerId", held_ledger_id::text AS "heldLedgerId"
    FROM customer_balances WHERE account_id = ANY($1::text[]) ORDER BY account_id FOR UPDATE`,
};

const READ_KEYS = {
  name: 'ledger-read-keys',
  text: `WITH instant AS MATERIALIZED (
      SELECT revision, ledger_effective_now() AS now, nextval('ledger_transaction_blocks') AS block FROM catalog_revision)
    SELECT i.revision::text, i.now::text, (extract(epoch FROM i.now) * 1000)::float8 AS "nowMs", i.block::text,
      to_char(date_trunc('month', i.now AT TIME ZONE 'UTC'), 'YYYY-MM-DD') AS month,
      k.id, k.account_id AS "accountId", k.group_name AS "group", k.allowed_models AS "allowedModels",
      k.monthly_limit_nanos::text AS "monthlyLimit", k.total_limit_nanos::text AS "totalLimit",
      k.allowed_ips AS "allowedIps", k.revoked_at IS NOT NULL AS revoked,
      (EXISTS (SELECT FROM groups g WHERE g.name = k.group_name AND g.open)
        OR EXISTS (SELECT FROM account_groups a WHERE a.account_id = k.account_id AND a.group_name = k.group_name))
        AS "hasGroup",
      extract(epoch FROM k.expires_at)::float8 * 1000 AS "expiresAtMs",
      CASE WHEN k.monthly_limit_nanos IS NULL THEN '0' ELSE coalesce((SELECT s.spent::text FROM key_spend s
        WHERE s.key_id = k.id AND s.month = date_trunc('month', i.now AT TIME ZONE 'UTC')::date), '0') END AS spent,
      CASE WHEN k.total_limit_nanos IS NULL THEN '0' ELSE coalesce((SELECT sum(s.spent)::text FROM key_spend s
        WHERE s.key_id = k.id), '0') END AS "totalSpent"
    FROM instant i LEFT JOIN api_keys k ON k.id = ANY($1::text[])`,
};

/** Asked only where an account of the batch has a limit; its balances row is locked, so no other batch spends meanwhile. */
const READ_ACCOUNT_SPEND = {
  name: 'ledger-read-account-spend',
  text: `SELECT k.account_id AS "accountId", sum(s.spent)::text AS spent FROM api_keys k
    JOIN key_spend s ON s.key_id = k.id AND s.month = $2::date
    WHERE k.account_id = ANY($1::text[]) GROUP BY k.account_id`,
};

const DIVISION_BY_ZERO = '22012';

// `resolved` asks for resolved_at and not for the state: the planner would take the index of all held charges for it, and
// read every open charge of the house to resolve one.
// It ends with a division that fails unless every charge was written, since the COMMIT is on its way already.
const WRITE = {
  name: 'ledger-write-batch',
  text: `WITH new_charges AS (
      INSERT INTO charges (id, account_id, state, input_hash, key_id, family, model_id, requested_model, group_name,
        units, unit_price, multiplier, rule, price_version_id, multiplier_version_id, group_rule_version_id, amount,
        refusal_code, refusal_message, task_id, request_id, deadline, lines, created_at)
      SELECT id, account_id, state, decode(input_hash, 'hex'), key_id, family, model_id, requested_model, group_name,
        units, unit_price, multiplier, rule, price_version_id, multiplier_version_id, group_rule_version_id, amount,
        refusal_code, refusal_message, task_id, request_id, to_timestamp(deadline_ms / 1000), lines::jsonb, $1::timestamptz
      FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
        $10::text[], $11::bigint[], $12::numeric[], $13::numeric[], $14::text[], $15::bigint[], $16::bigint[],
        $17::bigint[], $18::bigint[], $19::text[], $20::text[], $21::text[], $22::text[], $23::float8[], $56::text[])
        AS t (id, account_id, state, input_hash, key_id, family, model_id, requested_model, group_name, units,
          unit_price, multiplier, rule, price_version_id, multiplier_version_id, group_rule_version_id, amount,
          refusal_code, refusal_message, task_id, request_id, deadline_ms, lines)
      ON CONFLICT (id) DO NOTHING RETURNING 1),
    resolved AS (
      UPDATE charges c SET state = t.state, delivered_units = t.delivered_units, settled = t.settled,
        released = t.released, channel_id = t.channel_id, resolution_reason = t.reason,
        upstream_status = t.upstream_status, latency_ms = t.latency_ms, delivered_lines = t.delivered_lines::jsonb,
        operator_loss = t.operator_loss, resolved_at = $1::timestamptz
      FROM unnest($24::text[], $25::text[], $26::bigint[], $27::bigint[], $28::bigint[], $29::text[], $30::text[],
        $31::integer[], $32::integer[], $57::text[], $58::bigint[])
        AS t (id, state, delivered_units, settled, released, channel_id, reason, upstream_status, latency_ms,
          delivered_lines, operator_loss)
      WHERE c.id = t.id AND c.resolved_at IS NULL RETURNING 1),
    transactions AS (
      INSERT INTO ledger_transactions (id, kind, reference, account_id, charge_id, effective_at)
      SELECT t.*, $1::timestamptz FROM unnest($33::bigint[], $34::text[], $35::text[], $36::text[], $37::text[]) AS t),
    entries AS (
      INSERT INTO ledger_entries (transaction_id, ordinal, commodity, ledger_account_id, amount, balance_after,
        model_id, group_name, channel_id, key_id)
      SELECT transaction_id, ordinal, 'CRD', ledger_account_id, amount, balance_after, model_id, group_name, channel_id, key_id
      FROM unnest($38::bigint[], $39::smallint[], $40::bigint[], $41::bigint[], $42::bigint[], $43::text[],
        $44::text[], $45::text[], $46::text[])
        AS t (transaction_id, ordinal, ledger_account_id, amount, balance_after, model_id, group_name, channel_id, key_id)),
    balances AS (
      UPDATE customer_balances b SET main = t.main, held = t.held, low_balance_told = t.low_told
      FROM unnest($47::text[], $48::bigint[], $49::bigint[], $59::boolean[]) AS t (account_id, main, held, low_told)
      WHERE b.account_id = t.account_id),
    spend_up AS (
      INSERT INTO key_spend AS k (key_id, month, spent)
      SELECT * FROM unnest($50::text[], $51::date[], $52::bigint[]) AS t (key_id, month, spent) WHERE t.spent > 0
      ON CONFLICT (key_id, month) DO UPDATE SET spent = k.spent + excluded.spent),
    spend_down AS (
      UPDATE key_spend k SET spent = k.spent + t.spent
      FROM unnest($50::text[], $51::date[], $52::bigint[]) AS t (key_id, month, spent)
      WHERE t.spent < 0 AND k.key_id = t.key_id AND k.month = t.month),
    announcements AS (
      INSERT INTO outbox (producer, topic, key, payload)
      SELECT 'billing', t.topic, t.key, t.payload::jsonb
      FROM unnest($53::text[], $54::text[], $55::text[]) AS t (topic, key, payload))
    SELECT 1 / (cardinality($2::text[]) = (SELECT count(*) FROM new_charges)
      AND cardinality($24::text[]) = (SELECT count(*) FROM resolved))::int`,
};

type ChargeRow = Omit<StoredCharge, 'units' | 'amount' | 'settled' | 'released' | 'lines'> & {
  lines: { kind: LineKind; units: string; unitPrice: string }[] | null;
  units: string;
  amount: string;
  settled: string | null;
  released: string | null;
};

interface BalanceRow {
  accountId: string;
  main: string;
  held: string;
  frozen: boolean;
  monthlyLimit: string | null;
  lowThreshold: string | null;
  lowTold: boolean;
  mainLedgerId: string;
  heldLedgerId: string;
}

interface KeyRow {
  revision: string;
  now: string;
  nowMs: number;
  block: string;
  month: string;
  id: string | null;
  accountId: string;
  group: string;
  allowedModels: string[] | null;
  allowedIps: string[] | null;
  monthlyLimit: string | null;
  totalLimit: string | null;
  totalSpent: string;
  revoked: boolean;
  hasGroup: boolean;
  expiresAtMs: number | null;
  spent: string;
}

/** What the store keeps between batches: the prices, read again when the catalog's revision moved. */
export interface BatchContext {
  priceBook: PriceBook | undefined;
  usageLedgerIds: Record<Family, bigint>;
  loadPriceBook: (client: pg.ClientBase) => Promise<PriceBook>;
}

/**
 * Begins the transaction, takes the locks of a batch and reads what its decisions depend on. The statements are sent
 * without waiting for each other's answers and run in this order; on a pipelined connection that is one round trip.
 */
export async function lockAndRead(
  client: pg.ClientBase,
  commands: readonly Command[],
  context: BatchContext,
): Promise<BatchState> {
  const chargeIds = commands.map(({ command }) => command.chargeId).sort();
  const accountIds = [...new Set(commands.map(({ command }) => command.accountId))].sort();
  const keyIds = [
    ...new Set(commands.flatMap((entry) => (entry.kind === 'hold' ? [entry.command.keyId] : []))),
  ];

  const [, charges, balances, { rows }] = await Promise.all([
    client.query(BEGIN),
    client.query<ChargeRow>({ ...LOCK_CHARGES, values: [textArray(chargeIds)] }),
    client.query<BalanceRow>({ ...LOCK_BALANCES, values: [textArray(accountIds)] }),
    client.query<KeyRow>({ ...READ_KEYS, values: [textArray(keyIds)] }),
  ]);
  const instant = rows[0];
  if (!instant) throw new Error('catalog_revision is empty: run the migrations');
  if (context.priceBook?.revision !== BigInt(instant.revision))
    context.priceBook = await context.loadPriceBook(client);
  const locked = new Map(balances.rows.map((row) => [row.accountId, toBalance(row)]));
  if (keyIds.length > 0) await readAccountSpend(client, locked, instant.month);

  return {
    nowMs: instant.nowMs,
    now: instant.now,
    month: instant.month,
    firstTransactionId: BigInt(instant.block),
    priceBook: context.priceBook,
    charges: new Map(charges.rows.map((row) => [row.id, toCharge(row)])),
    balances: locked,
    keys: new Map(rows.filter((row) => row.id !== null).map((row) => [row.id as string, toKey(row)])),
    usageLedgerIds: context.usageLedgerIds,
  };
}

async function readAccountSpend(
  client: pg.ClientBase,
  balances: Map<string, LockedBalance>,
  month: string,
): Promise<void> {
  const limited = [...balances.values()].filter(({ monthlyLimit }) => monthlyLimit !== null);
  if (limited.length === 0) return;
  const accountIds = textArray(limited.map(({ accountId }) => accountId));
  const { rows } = await client.query<{ accountId: string; spent: string }>({
    ...READ_ACCOUNT_SPEND,
    values: [accountIds, month],
  });
  for (const { accountId, spent } of rows) (balances.get(accountId) as LockedBalance).spent = BigInt(spent);
}

/**
 * Writes a plan in one statement and commits, in one round trip: a statement that failed turns the COMMIT behind it into
 * a rollback. @throws BatchConflict when a charge changed meanwhile; nothing was written then.
 */
export async function writeAndCommit(
  client: pg.ClientBase,
  state: BatchState,
  plan: BatchPlan,
): Promise<void> {
  const writing = write(client, state, plan);
  crashPoint('batch.before-commit');
  await Promise.all([writing, client.query('COMMIT')]);
  crashPoint('batch.committed');
}

async function write(client: pg.ClientBase, state: BatchState, plan: BatchPlan): Promise<void> {
  if (plan.newCharges.length === 0 && plan.resolutions.length === 0) return;
  const values = [
    state.now,
    ...newChargeColumns(plan),
    ...resolutionColumns(plan),
    ...transactionColumns(plan),
    ...entryColumns(plan),
    ...balanceColumns(plan),
    ...spendColumns(plan),
    ...announcementColumns(state, plan),
    ...lineColumns(plan),
    numberArray([...plan.touchedBalances.values()].map(({ lowTold }) => String(lowTold))),
  ];
  try {
    await client.query({ ...WRITE, values });
  } catch (error) {
    throw (error as { code?: string }).code === DIVISION_BY_ZERO ? new BatchConflict() : error;
  }
}

function newChargeColumns({ newCharges }: BatchPlan): string[] {
  const hold = (charge: (typeof newCharges)[number]): HoldCommand | null =>
    'keyId' in charge.command ? charge.command : null;
  const quoted = newCharges.map((charge) => (charge.quote ? quoteColumns(charge.quote) : null));
  return [
    textArray(newCharges.map((charge) => charge.command.chargeId)),
    textArray(newCharges.map((charge) => charge.command.accountId)),
    textArray(newCharges.map((charge) => charge.state)),
    textArray(newCharges.map((charge) => charge.inputHash?.toString('hex') ?? null)),
    textArray(newCharges.map((charge) => hold(charge)?.keyId ?? null)),
    textArray(newCharges.map((charge) => charge.quote?.model.family ?? null)),
    textArray(newCharges.map((charge) => hold(charge)?.model ?? null)),
    textArray(newCharges.map((charge) => hold(charge)?.requestedModel ?? null)),
    textArray(newCharges.map((charge) => hold(charge)?.group ?? null)),
    numberArray(newCharges.map((charge) => charge.quote?.units ?? hold(charge)?.units ?? null)),
    numberArray(quoted.map((columns) => columns?.unitPrice ?? null)),
    numberArray(quoted.map((columns) => columns?.multiplier ?? null)),
    textArray(newCharges.map((charge) => charge.quote?.rule ?? null)),
    numberArray(newCharges.map((charge) => charge.quote?.priceVersionId ?? null)),
    numberArray(newCharges.map((charge) => charge.quote?.multiplierVersionId ?? null)),
    numberArray(newCharges.map((charge) => charge.quote?.groupRuleVersionId ?? null)),
    numberArray(newCharges.map((charge) => charge.quote?.amount ?? 0n)),
    textArray(newCharges.map((charge) => charge.refusal?.code ?? null)),
    textArray(newCharges.map((charge) => charge.refusal?.message ?? null)),
    textArray(newCharges.map((charge) => hold(charge)?.taskId ?? null)),
    textArray(newCharges.map((charge) => hold(charge)?.requestId ?? null)),
    numberArray(newCharges.map((charge) => hold(charge)?.deadlineMs ?? null)),
  ];
}

function resolutionColumns({ resolutions }: BatchPlan): string[] {
  return [
    textArray(resolutions.map((resolution) => resolution.charge.id)),
    textArray(resolutions.map((resolution) => resolution.state)),
    numberArray(resolutions.map((resolution) => resolution.deliveredUnits)),
    numberArray(resolutions.map((resolution) => resolution.settled)),
    numberArray(resolutions.map((resolution) => resolution.released)),
    textArray(resolutions.map((resolution) => resolution.command.channel)),
    textArray(resolutions.map((resolution) => resolution.command.reason)),
    numberArray(resolutions.map((resolution) => resolution.command.upstreamStatus)),
    numberArray(resolutions.map((resolution) => resolution.command.latencyMs)),
  ];
}

function lineColumns({ newCharges, resolutions }: BatchPlan): string[] {
  return [
    textArray(newCharges.map((charge) => charge.quote && quoteColumns(charge.quote).lines)),
    textArray(resolutions.map(({ deliveredLines }) => deliveredLines && linesJson(deliveredLines))),
    numberArray(resolutions.map((resolution) => resolution.operatorLoss)),
  ];
}

function transactionColumns({ transactions }: BatchPlan): string[] {
  return [
    numberArray(transactions.map((transaction) => transaction.id)),
    textArray(transactions.map((transaction) => transaction.kind)),
    textArray(transactions.map((transaction) => transaction.reference)),
    textArray(transactions.map((transaction) => transaction.accountId)),
    textArray(transactions.map((transaction) => transaction.chargeId)),
  ];
}

function entryColumns({ entries }: BatchPlan): string[] {
  return [
    numberArray(entries.map((entry) => entry.transactionId)),
    numberArray(entries.map((entry) => entry.ordinal)),
    numberArray(entries.map((entry) => entry.ledgerAccountId)),
    numberArray(entries.map((entry) => entry.amount)),
    numberArray(entries.map((entry) => entry.balanceAfter)),
    textArray(entries.map((entry) => entry.dimensions?.model ?? null)),
    textArray(entries.map((entry) => entry.dimensions?.group ?? null)),
    textArray(entries.map((entry) => entry.dimensions?.channel ?? null)),
    textArray(entries.map((entry) => entry.dimensions?.keyId ?? null)),
  ];
}

function balanceColumns({ touchedBalances }: BatchPlan): string[] {
  const balances = [...touchedBalances.values()];
  return [
    textArray(balances.map((balance) => balance.accountId)),
    numberArray(balances.map((balance) => balance.main)),
    numberArray(balances.map((balance) => balance.held)),
  ];
}

function spendColumns({ keySpend }: BatchPlan): string[] {
  const changes = [...keySpend].filter(([, spent]) => spent !== 0n).sort(([a], [b]) => (a < b ? -1 : 1));
  return [
    textArray(changes.map(([key]) => key.split(' ')[0] ?? '')),
    textArray(changes.map(([key]) => key.split(' ')[1] ?? '')),
    numberArray(changes.map(([, spent]) => spent)),
  ];
}

function announcementColumns(state: BatchState, plan: BatchPlan): string[] {
  const rows = chargeAnnouncements(state, plan);
  return [
    textArray(rows.map((row) => row.topic)),
    textArray(rows.map((row) => row.key)),
    textArray(rows.map((row) => row.payload)),
  ];
}

function toCharge(row: ChargeRow): StoredCharge {
  return {
    ...row,
    units: BigInt(row.units ?? 0),
    lines:
      row.lines &&
      row.lines.map((line) => ({
        ...line,
        units: BigInt(line.units),
        unitPrice: parseDecimal(line.unitPrice),
      })),
    amount: nanos(BigInt(row.amount)),
    settled: row.settled === null ? null : nanos(BigInt(row.settled)),
    released: row.released === null ? null : nanos(BigInt(row.released)),
    refusalCode: row.refusalCode,
  };
}

function toBalance(row: BalanceRow): LockedBalance {
  return {
    accountId: row.accountId,
    main: BigInt(row.main),
    held: BigInt(row.held),
    frozen: row.frozen,
    monthlyLimit: row.monthlyLimit === null ? null : BigInt(row.monthlyLimit),
    spent: 0n,
    lowThreshold: row.lowThreshold === null ? null : BigInt(row.lowThreshold),
    lowTold: row.lowTold,
    mainLedgerId: BigInt(row.mainLedgerId),
    heldLedgerId: BigInt(row.heldLedgerId),
  };
}

function toKey(row: KeyRow): KeyState {
  return {
    id: row.id as string,
    accountId: row.accountId,
    group: row.group,
    allowedModels: row.allowedModels,
    allowedIps: row.allowedIps,
    monthlyLimit: row.monthlyLimit === null ? null : BigInt(row.monthlyLimit),
    spent: BigInt(row.spent),
    totalLimit: row.totalLimit === null ? null : BigInt(row.totalLimit),
    totalSpent: BigInt(row.totalSpent),
    expiresAtMs: row.expiresAtMs,
    revoked: row.revoked,
    hasGroup: row.hasGroup,
  };
}

/** A PostgreSQL array literal of texts; written here since the driver's own serialisation dominated the profile. */
function textArray(items: readonly (string | null)[]): string {
  return `{${items.map((item) => (item === null ? 'NULL' : `"${item.replace(/["\\]/g, '\\$&')}"`)).join(',')}}`;
}

/** A PostgreSQL array literal of numbers or decimals, which need no quoting. */
function numberArray(items: readonly (bigint | number | string | null)[]): string {
  return `{${items.map((item) => (item === null ? 'NULL' : item.toString())).join(',')}}`;
}
