import type { OutboxRelay } from '#bus/outbox.js';
import type { SuspenseWhy } from '#ledger/postings/suspense.js';
import type { Logger } from '#platform/logging.js';
import { Metrics, type Registry } from '#platform/metrics.js';
import type { PaymentEvent } from './payment.provider.js';

/** `waiting`: its payment has not arrived yet, or it may be one of our refunds, whose id at the provider is not known yet. */
type EventState = 'applied' | 'ignored' | 'suspense' | 'waiting';

/** The result of an event. */
export interface EventOutcome {
  state: EventState;
  /** A sentence for readers of the list of events. */
  detail: string;
  /** What a person must look at, if anything. */
  alert?: SuspenseWhy | 'unknown_dispute' | 'won_after_write_off';
}

const BACK = { state: 'suspense', alert: 'dispute_won' } as const;

/** Of an event that says that a refund failed, which brought money back. */
export const broughtBack = (refundId: string): EventOutcome => ({ ...BACK, detail: backAfter(refundId) });

function backAfter(refundId: string): string {
  return `Refund ${refundId} has failed: money that its disputes took, and a person had resolved, is back in suspense.`;
}

/** Of a payment found by polling because no event arrived. */
export const FOUND = 'found';

export interface PaymentNoticesParts {
  readonly registry: Registry;
  readonly log: Logger;
  readonly relay: Pick<OutboxRelay, 'wake'>;
}

class PaymentMetrics extends Metrics {
  readonly events = this.counter('tollgate_payment_events_total', 'Events of payment providers, by result.', [
    'provider',
    'state',
  ]);
  /** Each one is money that a person must look at. */
  readonly alerts = this.counter(
    'tollgate_payment_alerts_total',
    'Payments, refunds and disputes that need attention, by reason.',
    ['why'],
  );
  readonly found = this.counter(
    'tollgate_payments_found_total',
    'Paid orders found by polling the provider because no event arrived. Should stay near 0.',
    ['provider'],
  );
}

/** Reports the committed result of an event: metrics, log, and waiting outbox rows. */
export class PaymentNotices {
  private readonly metrics: PaymentMetrics;

  constructor(private readonly parts: PaymentNoticesParts) {
    this.metrics = new PaymentMetrics(parts.registry);
  }

  /** Something in a report of the provider that our books cannot explain. */
  unexplained(line: { provider: string; lineId: string }, detail: string): void {
    const alert: SuspenseWhy = 'provider_adjustment';
    this.metrics.alerts.inc({ why: alert });
    this.parts.log.error({ ...line, alert }, detail);
  }

  /** A refund failed, and what its disputes took is back in suspense, although a person had resolved it. */
  broughtBack({ id: refundId, provider }: { id: string; provider: string }): void {
    this.metrics.alerts.inc({ why: BACK.alert });
    this.parts.log.error({ provider, refundId, alert: BACK.alert }, backAfter(refundId));
  }

  /** `outcome` is null for an event that was processed before. */
  committed(
    { provider, eventId, type }: Pick<PaymentEvent, 'provider' | 'eventId' | 'type'>,
    outcome: EventOutcome | null,
  ): void {
    this.metrics.events.inc({ provider, state: outcome?.state ?? 'repeated' });
    if (!outcome) return;
    const { state, detail, alert } = outcome;
    this.parts.relay.wake();
    if (type === FOUND && state === 'applied') this.metrics.found.inc({ provider });
    if (alert === undefined) {
      this.parts.log.info({ provider, eventId, type, state }, detail);
      return;
    }
    this.metrics.alerts.inc({ why: alert });
    this.parts.log.error({ provider, eventId, type, state, alert }, detail);
  }
}
