import type { BalanceLow, ChargeRefunded, ChargeSettled } from '#bus/payloads.js';
import { topics } from '#bus/topics.js';
import { formatAmount, nanos } from '#money/amount.js';
import type { BatchPlan, BatchState, LowBalance, Resolution } from './batch.js';

/** A row of the outbox, as the batch inserts it. */
export interface Announcement {
  topic: string;
  key: string;
  /** JSON. */
  payload: string;
}

/**
 * What a batch tells the others: each settlement, each amount that went back, also the rest of a partial one, and each
 * balance that fell below its threshold.
 */
export function chargeAnnouncements(state: BatchState, plan: BatchPlan): Announcement[] {
  const at = new Date(state.nowMs).toISOString();
  const rows: Announcement[] = [];
  for (const resolution of plan.resolutions) {
    if (resolution.state === 'settled') rows.push(settled(resolution, at));
    if (resolution.state === 'released' || resolution.released > 0n) rows.push(refunded(resolution, at));
  }
  for (const low of plan.lowBalances) rows.push(balanceLow(low, at));
  return rows;
}

function settled({ charge, settled: amount, deliveredUnits }: Resolution, settledAt: string): Announcement {
  const payload: ChargeSettled = {
    chargeId: charge.id,
    accountId: charge.accountId,
    keyId: charge.keyId,
    model: charge.model,
    group: charge.group,
    amount: formatAmount(amount),
    units: deliveredUnits.toString(),
    taskId: charge.taskId,
    settledAt,
  };
  return {
    topic: topics.chargeSettled.name,
    key: topics.chargeSettled.key(payload),
    payload: JSON.stringify(payload),
  };
}

function refunded({ charge, command, released, state }: Resolution, refundedAt: string): Announcement {
  const payload: ChargeRefunded = {
    chargeId: charge.id,
    accountId: charge.accountId,
    kind: state === 'released' ? 'release' : 'partial',
    amount: formatAmount(released),
    reason: command.reason === null ? null : { code: 'work_failed', message: command.reason },
    taskId: charge.taskId,
    refundedAt,
  };
  return {
    topic: topics.chargeRefunded.name,
    key: topics.chargeRefunded.key(payload),
    payload: JSON.stringify(payload),
  };
}

/** Named after the charge that took the balance below: it does so once. */
function balanceLow({ accountId, chargeId, main, threshold }: LowBalance, crossedAt: string): Announcement {
  const payload: BalanceLow = {
    alertId: chargeId,
    accountId,
    balance: formatAmount(nanos(main)),
    threshold: formatAmount(nanos(threshold)),
    crossedAt,
  };
  return {
    topic: topics.balanceLow.name,
    key: topics.balanceLow.key(payload),
    payload: JSON.stringify(payload),
  };
}
