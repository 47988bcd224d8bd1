import type { MessageHandler } from '@nestjs/microservices';
import { isObservable, lastValueFrom } from 'rxjs';
import type { Logger } from '#platform/logging.js';
import type { Registry } from '#platform/metrics.js';
import { type SpanPlan, traced } from '#platform/tracing.js';
import { BusUnavailable, InvalidMessage } from './bus.errors.js';
import { BusMetrics } from './bus.metrics.js';
import { Chaos, type ChaosOptions } from './chaos.js';
import { decodePayload, encodeErrorReply, encodeReply } from './message.js';
import type { AnyTopic } from './topic.js';

/** A message that could not be handled, with its origin. It is stored, and never stops its partition. */
export interface DeadLetter {
  topic: string;
  group: string;
  partition: number;
  /** Unique within topic and partition. */
  offset: string;
  key: string | null;
  /** The message as received, readable or not. */
  payload: string | null;
  /** Its subject (the charge, for topics about money). Null if unreadable. */
  id: string | null;
  reason: string;
}

export interface ConsumerOptions {
  /** The consumer groups of this program. Every topic they read needs exactly one handler here. */
  groups: readonly string[];
  /** True for temporary errors (database unreachable, deadlock), which are retried without limit. Others never are. */
  isTransient: (error: unknown) => boolean;
  /** Stores a dead letter. The message counts as handled only once this has resolved. */
  onDeadLetter: (letter: DeadLetter) => Promise<void>;
  log: Logger;
  registry: Registry;
  chaos?: ChaosOptions;
  /** Called when broadcast topics begin to be read, also after a reconnect: caches loaded earlier may have missed a change. */
  onAssigned?: () => void;
}

export interface IncomingMessage {
  partition: number;
  offset: string;
  key: string | null;
  version: string | undefined;
  value: string | null;
  wantsReply: boolean;
  traceparent?: string | undefined;
}

/** `done`: never handled again, with the reply to send, if any. `transient`: handled again later. */
export type Outcome = { done: true; reply: string | null } | { done: false; error: unknown };

/** Who handles the messages of a topic. */
interface Registration {
  readonly topic: AnyTopic;
  readonly group: string;
  readonly handler: MessageHandler;
}

/** Calls the handler of a topic for each message, and turns errors into retries, answers or dead letters. */
export class MessageDelivery {
  private readonly chaos: Chaos | undefined;
  private readonly metrics: BusMetrics;
  private readonly background = new Set<Promise<unknown>>();

  constructor(
    private readonly registration: Registration,
    private readonly options: ConsumerOptions,
  ) {
    this.chaos = options.chaos && new Chaos(options.chaos);
    this.metrics = new BusMetrics(options.registry);
  }

  get topic(): AnyTopic {
    return this.registration.topic;
  }

  get group(): string {
    return this.registration.group;
  }

  /** Handles a message once, or twice under chaos. Never throws. */
  handle(message: IncomingMessage): Promise<Outcome> {
    return this.chaos ? this.handleUnder(this.chaos, message) : this.handleTraced(message);
  }

  private async handleUnder(chaos: Chaos, message: IncomingMessage): Promise<Outcome> {
    if (chaos.duplicates) this.handleAgainLater(message, chaos);
    await chaos.beforeFirst();
    return this.handleTraced(message);
  }

  /** Resolves when no duplicate is in progress. */
  async drain(): Promise<void> {
    while (this.background.size > 0) await Promise.all(this.background);
  }

  private handleAgainLater(message: IncomingMessage, chaos: Chaos): void {
    const copy = chaos.beforeDuplicate().then(() => this.handleTraced({ ...message, wantsReply: false }));
    this.background.add(copy);
    void copy.finally(() => this.background.delete(copy));
  }

  private handleTraced(message: IncomingMessage): Promise<Outcome> {
    return traced(`process ${this.topic.name}`, this.planOf(message), async (span) => {
      const outcome = await this.handleOnce(message);
      if (!outcome.done) span.fail('retried');
      return outcome;
    });
  }

  private planOf({ traceparent }: IncomingMessage): SpanPlan {
    const facts = {
      'messaging.destination.name': this.topic.name,
      'messaging.operation.type': 'process',
      'messaging.consumer.group.name': this.group,
    };
    return { kind: 'consumer', parent: traceparent, facts };
  }

  private async handleOnce(message: IncomingMessage): Promise<Outcome> {
    let payload: object | undefined;
    const startedAt = performance.now();
    try {
      payload = decodePayload(this.topic, message.version, message.value);
      const result = await this.call(payload);
      this.count('handled');
      return { done: true, reply: this.answer(message, payload, result) };
    } catch (error) {
      if (error instanceof BusUnavailable || this.options.isTransient(error))
        return this.retryLater(message, error);
      return await this.giveUp(message, payload, error);
    } finally {
      this.metrics.handleSeconds.note({ topic: this.topic.name }, (performance.now() - startedAt) / 1000);
    }
  }

  private async call(payload: object): Promise<unknown> {
    const result: unknown = await this.registration.handler(payload, undefined);
    return isObservable(result) ? lastValueFrom(result, { defaultValue: undefined }) : result;
  }

  private answer(message: IncomingMessage, payload: object, result: unknown): string | null {
    if (!message.wantsReply) return null;
    return this.chaos?.losesReply(this.topic.name, this.topic.id(payload)) ? null : encodeReply(result);
  }

  private retryLater(message: IncomingMessage, error: unknown): Outcome {
    this.count('retried');
    this.options.log.warn({ err: error, ...this.where(message) }, 'a message will be retried');
    return { done: false, error };
  }

  private async giveUp(
    message: IncomingMessage,
    payload: object | undefined,
    error: unknown,
  ): Promise<Outcome> {
    const { log, onDeadLetter } = this.options;
    const id = payload ? this.topic.id(payload) : idOf(this.topic, message.value);
    log.error({ err: error, id, ...this.where(message) }, 'a message could not be handled');
    if (this.topic.deadLetters) {
      try {
        await onDeadLetter({ ...this.where(message), id, payload: message.value, reason: reasonOf(error) });
      } catch (failure) {
        return this.retryLater(message, failure);
      }
    }
    this.count(this.topic.deadLetters ? 'dead' : 'rejected');
    return { done: true, reply: message.wantsReply ? encodeErrorReply(publicError(error)) : null };
  }

  private where({ partition, offset, key }: IncomingMessage) {
    return { topic: this.topic.name, group: this.group, partition, offset, key };
  }

  private count(outcome: 'handled' | 'retried' | 'dead' | 'rejected'): void {
    this.metrics.messages.inc({ topic: this.topic.name, group: this.group, outcome });
  }
}

/** The id of an invalid message, if it can be read. */
function idOf(topic: AnyTopic, value: string | null): string | null {
  try {
    const id: unknown = topic.id(JSON.parse(value ?? '') as object);
    return typeof id === 'string' ? id : null;
  } catch {
    return null;
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

/** The error for the sender: the broken rule for an invalid message, or a plain sentence for anything else. */
function publicError(error: unknown): { code: string; message: string } {
  if (error instanceof InvalidMessage) return { code: 'invalid_message', message: error.message };
  return { code: 'internal_error', message: 'The request could not be handled.' };
}
