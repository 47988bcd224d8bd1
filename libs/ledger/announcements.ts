import { type ChargeRefunded, type ChargeSettled, topics } from '#bus/topics.js';
import { formatAmount } from '#money/amount.js';
import type { BatchPlan, BatchState, Resolution } from './batch-plan.js';

/** A row of the outbox, as the batch inserts it. */
export interface Announcement {
  topic: string;
  key: string;
  /** JSON. */
  payload: string;
}

/** What a batch tells the others: each settlement, and each amount that went back, also the rest of a partial one. */
export function chargeAnnouncements(state: BatchState, plan: BatchPlan): Announcement[] {
  const at = new Date(state.nowMs).toISOString();
  return plan.resolutions.flatMap((resolution) => {
    const rows: Announcement[] = [];
    if (resolution.state === 'settled') rows.push(settled(resolution, at));
    if (resolution.state === 'released' || resolution.released > 0n) rows.push(refunded(resolution, at));
    return rows;
  });
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
