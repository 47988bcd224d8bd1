import { Controller } from '@nestjs/common';
import { Handles } from '#bus/handles.decorator.js';
import {
  BalanceLow,
  ChargeRefunded,
  ControlFailed,
  LedgerHead,
  TaskEnded,
  TopupCredited,
} from '#bus/payloads.js';
import { groups, topics } from '#bus/topics.js';
import { Gathering } from '#bus/kafka/gathering.js';
import { currentTrace } from '#platform/tracing.js';
import { DeliveryQueue } from '#webhooks/delivery.queue.js';
import {
  type AccountEvent,
  balanceEvent,
  controlEvent,
  headEvent,
  refundEvent,
  topupEvent,
  videoEvent,
} from '#webhooks/webhook-event.js';
import { WebhookSender } from '#webhooks/webhook.sender.js';
import { Using } from '#platform/wiring.js';

/** Enough for the messages of one batch. */
const MAX_TOGETHER = 500;

/**
 * Receives events of accounts and queues them for their webhooks. Most accounts have no endpoint, so messages that arrive together
 * share one lookup. A message is done when its deliveries are stored; a repeat finds them there.
 */
@Controller()
export class NoticesController extends Using({ queue: DeliveryQueue, sender: WebhookSender }) {
  private readonly gathering = new Gathering<AccountEvent>(MAX_TOGETHER, (events) => this.queueAll(events));

  @Handles(topics.topupCredited, groups.notifications)
  async credited(message: TopupCredited): Promise<void> {
    await this.add(topupEvent(message));
  }

  @Handles(topics.balanceLow, groups.notifications)
  async low(message: BalanceLow): Promise<void> {
    await this.add(balanceEvent(message));
  }

  @Handles(topics.videoCompleted, groups.notifications)
  async ended(message: TaskEnded): Promise<void> {
    const event = videoEvent(message);
    if (event) await this.add(event);
  }

  @Handles(topics.chargeRefunded, groups.notifications)
  async refunded(message: ChargeRefunded): Promise<void> {
    await this.add(refundEvent(message));
  }

  @Handles(topics.controlFailed, groups.notifications)
  async controlFailed(message: ControlFailed): Promise<void> {
    const accountIds = await this.queue.financeAccounts();
    await Promise.all(accountIds.map((accountId) => this.add(controlEvent(message, accountId))));
  }

  @Handles(topics.ledgerHead, groups.notifications)
  async headSigned(message: LedgerHead): Promise<void> {
    const accountIds = await this.queue.financeAccounts();
    await Promise.all(accountIds.map((accountId) => this.add(headEvent(message, accountId))));
  }

  private add(event: AccountEvent): Promise<void> {
    return this.gathering.add({ ...event, traceparent: currentTrace() });
  }

  private async queueAll(events: AccountEvent[]): Promise<void> {
    if ((await this.queue.add(events)) > 0) this.sender.wake();
  }
}
