import type pg from 'pg';
import { crashPoint } from '#platform/crash-points.js';
import { chargeAnnouncements } from './announcements.js';
import {
  announcementColumns,
  balanceColumns,
  entryColumns,
  newChargeColumns,
  resolutionColumns,
  sourcesFrom,
  spendColumns,
  type SpendChange,
  transactionColumns,
  valuesOf,
} from './batch-columns.js';
import type { BatchPlan, BatchState } from './batch.js';

/** A charge of this batch was inserted or resolved by somebody else meanwhile: roll back and run the batch again. */
export class BatchConflict extends Error {
  constructor() {
    super('a charge of the batch was written by another process');
    this.name = 'BatchConflict';
  }
}

const DIVISION_BY_ZERO = '22012';

// $1 is the time of the batch.
const [newCharges, resolutions, transactions, entries, balances, spend, announcements] = sourcesFrom(
  2,
  newChargeColumns,
  resolutionColumns,
  transactionColumns,
  entryColumns,
  balanceColumns,
  spendColumns,
  announcementColumns,
);

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
      FROM ${newCharges.sql}
      ON CONFLICT (id) DO NOTHING RETURNING 1),
    resolved AS (
      UPDATE charges c SET state = t.state, delivered_units = t.delivered_units, settled = t.settled,
        released = t.released, channel_id = t.channel_id, resolution_reason = t.reason,
        upstream_status = t.upstream_status, latency_ms = t.latency_ms, delivered_lines = t.delivered_lines::jsonb,
        operator_loss = t.operator_loss, resolved_at = $1::timestamptz
      FROM ${resolutions.sql} WHERE c.id = t.id AND c.resolved_at IS NULL RETURNING 1),
    transactions AS (
      INSERT INTO ledger_transactions (${transactions.names}, effective_at)
      SELECT t.*, $1::timestamptz FROM ${transactions.sql}),
    entries AS (
      INSERT INTO ledger_entries (${entries.names}, commodity) SELECT t.*, 'CRD' FROM ${entries.sql}),
    balances AS (
      UPDATE customer_balances b SET main = t.main, held = t.held, low_balance_told = t.low_told
      FROM ${balances.sql} WHERE b.account_id = t.account_id),
    spend_up AS (
      INSERT INTO key_spend AS k (${spend.names}) SELECT * FROM ${spend.sql} WHERE t.spent > 0
      ON CONFLICT (key_id, month) DO UPDATE SET spent = k.spent + excluded.spent),
    spend_down AS (
      UPDATE key_spend k SET spent = k.spent + t.spent FROM ${spend.sql}
      WHERE t.spent < 0 AND k.key_id = t.key_id AND k.month = t.month),
    announcements AS (
      INSERT INTO outbox (producer, topic, key, payload)
      SELECT 'billing', t.topic, t.key, t.payload::jsonb FROM ${announcements.sql})
    SELECT 1 / (${newCharges.count} = (SELECT count(*) FROM new_charges)
      AND ${resolutions.count} = (SELECT count(*) FROM resolved))::int`,
};

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
    ...valuesOf(newChargeColumns, plan.newCharges),
    ...valuesOf(resolutionColumns, plan.resolutions),
    ...valuesOf(transactionColumns, plan.transactions),
    ...valuesOf(entryColumns, plan.entries),
    ...valuesOf(balanceColumns, [...plan.touchedBalances.values()]),
    ...valuesOf(spendColumns, spendChanges(plan)),
    ...valuesOf(announcementColumns, chargeAnnouncements(state, plan)),
  ];
  try {
    await client.query({ ...WRITE, values });
  } catch (error) {
    throw (error as { code?: string }).code === DIVISION_BY_ZERO ? new BatchConflict() : error;
  }
}

/** Sorted, as every batch takes these locks. */
function spendChanges({ keySpend }: BatchPlan): SpendChange[] {
  return [...keySpend]
    .filter(([, spent]) => spent !== 0n)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, spent]) => {
      const [keyId = '', month = ''] = key.split(' ');
      return { keyId, month, spent };
    });
}
