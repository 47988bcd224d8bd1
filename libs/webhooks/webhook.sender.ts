import { isTransient } from '#database/database.js';
import type { Clock } from '#platform/clock.js';
import { signedHeaders } from '#platform/http/webhook-signature.js';
import type { Logger } from '#platform/logging.js';
import { Looping } from '#platform/loop.js';
import { Counter, type Registry } from '#platform/metrics.js';
import { placeOf, type SecretBox } from '#platform/sealed-secret.js';
import { currentTrace, traced } from '#platform/tracing.js';
import type { UpstreamConnections } from '#upstream/connections.js';
import { httpCall } from '#upstream/http-call.js';
import type { DeliveryAttempt, DeliveryQueue, SwitchedOff } from './delivery.queue.js';
import type { DueDelivery } from './due-deliveries.js';
import type { WebhooksConfig } from './webhooks.config.js';

/**
 * The most concurrent attempts of this process, of one account in it, and to one endpoint by all processes: an account's slow
 * receivers take a quarter of the places at most.
 */
const MAX_IN_FLIGHT = 64;
const MAX_PER_ACCOUNT = 16;
const MAX_PER_ENDPOINT = 4;
/** Longer answers are not read. */
const MAX_ANSWER_BYTES = 16_384;
const SHOWN_ANSWER_CHARS = 500;
const RETRY_GROWTH = 3;
/**
 * All that an owner learns if there was no connection, without a duration. Whether a name resolves, refuses or stays
 * silent would show strangers what is inside this network.
 */
const NOT_CONNECTED =
  'No connection: the host has no public address, or no HTTPS connection could be opened in time.';

export interface SenderParts {
  queue: DeliveryQueue;
  connections: UpstreamConnections;
  config: WebhooksConfig;
  secrets: SecretBox;
  clock: Clock;
  log: Logger;
  registry: Registry;
  /** Notifies the owner. Must not throw. */
  onSwitchedOff: (endpoint: SwitchedOff) => Promise<void>;
}

/** Sends due deliveries, a limited number at a time, and records the outcome. Several processes may send. */
export class WebhookSender extends Looping {
  private readonly inFlight = new Map<Promise<void>, DueDelivery>();
  private readonly attempts: Counter<'outcome'>;

  constructor(private readonly parts: SenderParts) {
    const { config, log, registry } = parts;
    super({ name: 'webhooks', intervalMs: config.pollMs, log });
    this.attempts = new Counter({
      name: 'tollgate_webhook_attempts_total',
      help: 'Attempts to deliver a webhook, by outcome.',
      labelNames: ['outcome'],
      registers: [registry],
    });
  }

  /** Claims nothing more, and waits for the attempts in progress. */
  override async stop(): Promise<void> {
    await super.stop();
    await Promise.all(this.inFlight.keys());
  }

  protected async round(): Promise<boolean> {
    const free = MAX_IN_FLIGHT - this.inFlight.size;
    if (free <= 0) return false;
    const most = { further: free, perAccount: MAX_PER_ACCOUNT, perEndpoint: MAX_PER_ENDPOINT };
    const claimed = await this.parts.queue.claim(most, [...this.inFlight.values()]);
    for (const delivery of claimed) this.begin(delivery);
    return claimed.length === free;
  }

  private begin(delivery: DueDelivery): void {
    const work = this.deliver(delivery)
      .catch((error: unknown) => this.report(delivery, error))
      .finally(() => {
        this.inFlight.delete(work);
        this.wake();
      });
    this.inFlight.set(work, delivery);
  }

  private async deliver(delivery: DueDelivery): Promise<void> {
    const { queue, onSwitchedOff } = this.parts;
    if (delivery.isOff) return queue.drop(delivery);
    const attempt = await this.attemptTraced(delivery);
    const isSuccess = attempt.status !== null && attempt.status >= 200 && attempt.status < 300;
    this.attempts.inc({ outcome: isSuccess ? 'delivered' : 'failed' });
    if (isSuccess) return queue.succeeded(delivery, attempt);
    const switchedOff = await queue.failed(delivery, attempt, this.pauseMs(delivery.attempts));
    if (switchedOff) await onSwitchedOff(switchedOff);
  }

  /** Continues the trace of the event's cause, and passes it to the receiver. */
  private attemptTraced(delivery: DueDelivery): Promise<DeliveryAttempt> {
    const { traceparent: parent, attempts, id } = delivery;
    const facts = { 'tollgate.delivery.id': id, 'tollgate.delivery.attempt': attempts };
    return traced('webhook', { kind: 'client', parent, facts }, async (span) => {
      const attempt = await this.attempt(delivery);
      span.note({ 'http.response.status_code': attempt.status });
      if (attempt.status === null || attempt.status >= 300) span.fail(String(attempt.status ?? 'no_answer'));
      return attempt;
    });
  }

  private async attempt(delivery: DueDelivery): Promise<DeliveryAttempt> {
    const { config, connections, clock } = this.parts;
    const startedAt = new Date(clock.nowMs());
    const beganMs = performance.now();
    const result = await httpCall(config.allowPrivate ? connections.anyFiles : connections.publicFiles, {
      method: 'POST',
      url: new URL(delivery.url),
      headers: this.headersOf(delivery, startedAt),
      body: delivery.body,
      timeoutMs: config.timeoutMs,
      maxBytes: MAX_ANSWER_BYTES,
      signal: AbortSignal.timeout(config.timeoutMs),
    });
    const durationMs = Math.round(performance.now() - beganMs);
    const noted = { startedAt, durationMs, status: result.status };
    if (result.kind === 'answer') return { ...noted, error: null, answer: beginningOf(result.body) };
    if (result.sent) return { ...noted, error: result.reason, answer: null };
    this.parts.log.info({ endpointId: delivery.endpointId, reason: result.reason }, 'a webhook was not sent');
    return { ...noted, durationMs: 0, error: NOT_CONNECTED, answer: null };
  }

  private headersOf({ endpointId, eventId, body, secrets }: DueDelivery, at: Date): Record<string, string> {
    const opened = secrets.map((secret) => this.parts.secrets.open(secret, placeOf.webhook(endpointId)));
    const timestamp = Math.floor(at.getTime() / 1000);
    const traceparent = currentTrace();
    return {
      'content-type': 'application/json; charset=utf-8',
      'user-agent': 'Tollgate-Webhooks/1',
      ...(traceparent !== undefined && { traceparent }),
      ...signedHeaders({ id: eventId, timestamp, body }, opened),
    };
  }

  /** With jitter, so that deliveries that failed together are not retried together. */
  private pauseMs(attempts: number): number {
    const { retryMs, longestRetryMs } = this.parts.config;
    return (
      Math.min(retryMs * RETRY_GROWTH ** Math.min(attempts - 1, 20), longestRetryMs) *
      (0.75 + Math.random() / 2)
    );
  }

  /** The delivery stays under its lease, and is attempted again afterwards. */
  private report({ id, endpointId }: DueDelivery, error: unknown): void {
    const level = isTransient(error) ? 'warn' : 'error';
    this.parts.log[level](
      { err: error, deliveryId: id, endpointId },
      'an attempt of a webhook could not be noted',
    );
  }
}

/** PostgreSQL's text cannot contain NUL. */
function beginningOf(body: Buffer): string {
  return body
    .toString('utf8', 0, SHOWN_ANSWER_CHARS * 4)
    .slice(0, SHOWN_ANSWER_CHARS)
    .replaceAll('\u0000', '\uFFFD');
}
