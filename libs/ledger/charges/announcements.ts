import type { BalanceLow, ChargeRefunded, ChargeSettled } from '#bus/payloads.js';
import { withTrace } from '#bus/message.js';
import { topics } from '#bus/topics.js';
import { formatAmount, nanos } from '#money/amount.js';
import type { BatchPlan, LowBalance, Resolution } from './batch.js';

/** An outbox row, as the batch inserts it. */
export interface Announcement {
  topic: string;
  key: string;
  /** JSON, without the time: the database adds that of the batch. */
  payload: string;
  timeField: 'settledAt' | 'refundedAt' | 'crossedAt';
}

/**
 * What a batch announces: each settlement if a program listens, each released amount, including the unused part of a settled
 * hold, and each balance that fell below its threshold.
 */
export function chargeAnnouncements(plan: BatchPlan, options: { settlements: boolean }): Announcement[] {
  const rows: Announcement[] = [];
  for (const resolution of plan.resolutions) {
    if (options.settlements && resolution.state === 'settled') rows.push(settled(resolution));
    if (resolution.state === 'released' || resolution.released > 0n) rows.push(refunded(resolution));
  }
  for (const low of plan.lowBalances) rows.push(balanceLow(low));
  return rows;
}

function settled({ charge, command, settled: amount, deliveredUnits }: Resolution): Announcement {
  const payload: Omit<ChargeSettled, 'settledAt'> = {
    chargeId: charge.id,
    accountId: charge.accountId,
    keyId: charge.keyId,
    model: charge.model,
    group: charge.group,
    amount: formatAmount(amount),
    units: deliveredUnits.toString(),
    taskId: charge.taskId,
  };
  const traced = withTrace(payload, command.traceparent);
  return announced(topics.chargeSettled, traced, 'settledAt');
}

function refunded({ charge, command, released, state }: Resolution): Announcement {
  const payload: Omit<ChargeRefunded, 'refundedAt'> = {
    chargeId: charge.id,
    accountId: charge.accountId,
    kind: state === 'released' ? 'release' : 'partial',
    amount: formatAmount(released),
    reason: command.reason === null ? null : { code: 'work_failed', message: command.reason },
    taskId: charge.taskId,
  };
  const traced = withTrace(payload, command.traceparent);
  return announced(topics.chargeRefunded, traced, 'refundedAt');
}

/** Named after the charge that took the balance below the threshold, so it exists once. */
function balanceLow({ accountId, chargeId, main, threshold }: LowBalance): Announcement {
  const payload: Omit<BalanceLow, 'crossedAt'> = {
    alertId: chargeId,
    accountId,
    balance: formatAmount(nanos(main)),
    threshold: formatAmount(nanos(threshold)),
  };
  return announced(topics.balanceLow, payload, 'crossedAt');
}

function announced(
  { name }: { name: string },
  payload: { accountId: string },
  timeField: Announcement['timeField'],
): Announcement {
  return { topic: name, key: payload.accountId, payload: JSON.stringify(payload), timeField };
}
