import type { OutboxRelay } from '#bus/outbox.js';
import type { SuspenseWhy } from '#ledger/postings/suspense.js';
import type { Logger } from '#platform/logging.js';
import { Counter, type Registry } from '#platform/metrics.js';
import type { PaymentEvent } from './payment.provider.js';

/** `waiting`: it is about a payment that has not arrived yet. */
type EventState = 'applied' | 'ignored' | 'suspense' | 'waiting';

/** The result of an event. */
export interface EventOutcome {
  state: EventState;
  /** A sentence for readers of the list of events. */
  detail: string;
  /** What a person must look at, if anything. */
  alert?: SuspenseWhy | 'unknown_dispute';
}

/** Of a payment found by polling because no event arrived. */
export const FOUND = 'found';

export interface PaymentNoticesParts {
  readonly registry: Registry;
  readonly log: Logger;
  readonly relay: Pick<OutboxRelay, 'wake'>;
}

/** Reports the committed result of an event: metrics, log, and waiting outbox rows. */
export class PaymentNotices {
  private readonly events: Counter<'provider' | 'state'>;
  /** Each one is money that a person must look at. */
  private readonly alerts: Counter<'why'>;
  private readonly found: Counter<'provider'>;

  constructor(private readonly parts: PaymentNoticesParts) {
    const registers = [parts.registry];
    this.events = new Counter({
      name: 'tollgate_payment_events_total',
      help: 'Events of payment providers, by result.',
      labelNames: ['provider', 'state'],
      registers,
    });
    this.alerts = new Counter({
      name: 'tollgate_payment_alerts_total',
      help: 'Payments, refunds and disputes that need attention, by reason.',
      labelNames: ['why'],
      registers,
    });
    this.found = new Counter({
      name: 'tollgate_payments_found_total',
      help: 'Paid orders found by polling the provider because no event arrived. Should stay near 0.',
      labelNames: ['provider'],
      registers,
    });
  }

  /** Something in a report of the provider that our books cannot explain. */
  unexplained(line: { provider: string; lineId: string }, detail: string): void {
    const alert: SuspenseWhy = 'provider_adjustment';
    this.alerts.inc({ why: alert });
    this.parts.log.error({ ...line, alert }, detail);
  }

  /** `outcome` is null for an event that was processed before. */
  committed({ provider, eventId, type }: PaymentEvent, outcome: EventOutcome | null): void {
    this.events.inc({ provider, state: outcome?.state ?? 'repeated' });
    if (!outcome) return;
    const { state, detail, alert } = outcome;
    this.parts.relay.wake();
    if (type === FOUND && state === 'applied') this.found.inc({ provider });
    if (alert === undefined) {
      this.parts.log.info({ provider, eventId, type, state }, detail);
      return;
    }
    this.alerts.inc({ why: alert });
    this.parts.log.error({ provider, eventId, type, state, alert }, detail);
  }
}
