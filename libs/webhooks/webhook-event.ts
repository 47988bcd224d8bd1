import type {
  BalanceLow,
  ChargeRefunded,
  ControlFailed,
  LedgerHead,
  TaskEnded,
  TopupCredited,
} from '#bus/payloads.js';

/** Events that an account can subscribe to. */
export const eventTypes = [
  'topup.credited',
  'balance.low',
  'video.completed',
  'video.failed',
  'charge.refunded',
  'control.failed',
  'ledger.head',
] as const;
export type EventType = (typeof eventTypes)[number];

/** Events of the installation, for finance staff only. */
export const financeEventTypes: readonly EventType[] = ['control.failed', 'ledger.head'];

/** A trial event, which needs no subscription. */
export const PING = 'ping';

/** An event of an account, as its endpoints receive it. */
export interface AccountEvent {
  /** The same for every copy of the announcement, so that receivers can drop repeats. */
  id: string;
  type: EventType;
  accountId: string;
  /** ISO 8601. */
  at: string;
  data: Record<string, unknown>;
  /** The trace of the call that caused it. */
  traceparent?: string | undefined;
}

export function topupEvent(message: TopupCredited): AccountEvent {
  const { topupId, accountId, provider, credits, balance, creditedAt: at } = message;
  const data = { topupId, provider, credits, balance };
  return { id: `topup_${topupId}`, type: 'topup.credited', accountId, at, data };
}

export function balanceEvent(message: BalanceLow): AccountEvent {
  const { alertId, accountId, balance, threshold, crossedAt: at } = message;
  return { id: `low_${alertId}`, type: 'balance.low', accountId, at, data: { balance, threshold } };
}

/** The end of a video; null for other tasks, because 3D assets can only be polled. */
export function videoEvent(message: TaskEnded): AccountEvent | null {
  const { taskId, chargeId, accountId, kind, outcome, reason, endedAt: at } = message;
  if (kind !== 'video') return null;
  const data = {
    videoId: taskId,
    chargeId,
    status: outcome,
    error: outcome === 'failed' ? (reason ?? null) : null,
  };
  const type = outcome === 'completed' ? 'video.completed' : 'video.failed';
  return { id: `video_${taskId}`, type, accountId, at, data };
}

/** Returned credits: a whole hold, the part that was not delivered, or a later refund. */
export function refundEvent(message: ChargeRefunded): AccountEvent {
  const { chargeId, accountId, kind, amount, reason, taskId, refundId, refundedAt: at } = message;
  const data = {
    chargeId,
    kind,
    amount,
    reason: reason ?? null,
    videoId: taskId ?? null,
    refundId: refundId ?? null,
  };
  const id = `refund_${refundId ?? `${chargeId}_${kind}`}`;
  return { id, type: 'charge.refunded', accountId, at, data };
}

/** A finding of a control, for the account of a finance person. */
export function controlEvent(message: ControlFailed, accountId: string): AccountEvent {
  const { runId, control, state, count, fresh, subjects, at } = message;
  const data = { control, state, count: count ?? null, new: fresh, subjects };
  return { id: `control_${control}_${runId}`, type: 'control.failed', accountId, at, data };
}

/** A signed head of the ledger's hash chain, for a finance person to keep outside the installation. */
export function headEvent(message: LedgerHead, accountId: string): AccountEvent {
  const { number, sealedAt: at, ...head } = message;
  const data = { block: number, sealedAt: at, ...head };
  return { id: `head_${number}_${head.keyId}`, type: 'ledger.head', accountId, at, data };
}

/** The signed and sent body, as in the Standard Webhooks scheme: type, timestamp, data. */
export function webhookBody(event: { type: string; at: string; data: Record<string, unknown> }): string {
  return JSON.stringify({ type: event.type, timestamp: event.at, data: event.data });
}
