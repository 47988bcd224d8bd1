import { Registry } from '#platform/metrics.js';
import { type SpanPlan, traced } from '#platform/tracing.js';
import type { BusClient, PendingAnswer, ReadMarker } from './bus.client.js';
import { BusTimeout } from './bus.errors.js';
import { BusMetrics } from './bus.metrics.js';
import { rawMessage } from './message.js';
import type { AnyTopic, EventTopic, RequestTopic } from './topic.js';

export interface BusOptions {
  /** How long a request waits for its answer, in milliseconds. */
  requestTimeoutMs?: number;
  /** How long a publication waits for its acknowledgement, in milliseconds. */
  publishTimeoutMs?: number;
  registry?: Registry;
}

export interface CallOptions {
  timeoutMs?: number;
}

const DEFAULT_REQUEST_TIMEOUT_MS = 5_000;
const DEFAULT_PUBLISH_TIMEOUT_MS = 5_000;

/** Messages between programs, typed by the topics. */
export class Bus {
  private readonly metrics: BusMetrics;
  private readonly requestTimeoutMs: number;
  private readonly publishTimeoutMs: number;

  constructor(
    private readonly client: BusClient,
    options: BusOptions = {},
  ) {
    this.metrics = new BusMetrics(options.registry ?? new Registry());
    this.requestTimeoutMs = options.requestTimeoutMs ?? DEFAULT_REQUEST_TIMEOUT_MS;
    this.publishTimeoutMs = options.publishTimeoutMs ?? DEFAULT_PUBLISH_TIMEOUT_MS;
  }

  /** Resolves when requests can be answered. Optional, but finds a missing broker early. */
  connect(): Promise<void> {
    return this.client.connect();
  }

  /**
   * Sends a request and waits for the answer.
   * @throws BusTimeout if none comes: the outcome is unknown, so send it again with the same ID. BusUnavailable if the message
   * could not be sent. BusRejected if the handler failed permanently.
   */
  async request<P extends object, R>(
    topic: RequestTopic<P, R>,
    payload: P,
    options: CallOptions = {},
  ): Promise<R> {
    const startedAt = performance.now();
    const timeoutMs = options.timeoutMs ?? this.requestTimeoutMs;
    try {
      return await traced(`request ${topic.name}`, sending(topic), () =>
        this.within(topic, timeoutMs, this.client.request<R>(topic.name, payload)),
      );
    } catch (error) {
      if (error instanceof BusTimeout) this.metrics.requestTimeouts.inc({ topic: topic.name });
      throw error;
    } finally {
      this.metrics.requestSeconds.note({ topic: topic.name }, (performance.now() - startedAt) / 1000);
    }
  }

  /**
   * Resolves when the message is durable: acknowledged by Kafka, or handled by every group in process. The reply of a
   * request topic is dropped. @throws BusTimeout, BusUnavailable
   */
  async publish<P extends object>(
    topic: EventTopic<P>,
    payload: P,
    options: CallOptions = {},
  ): Promise<void> {
    const timeoutMs = options.timeoutMs ?? this.publishTimeoutMs;
    await traced(`publish ${topic.name}`, sending(topic), () => {
      const value = this.client.announce(topic.name, payload);
      return this.within(topic, timeoutMs, { value, forget: () => undefined });
    });
  }

  /** Publishes a payload that is already JSON text, without a time limit. @throws BusUnavailable, InvalidMessage */
  async publishText(topicName: string, key: string, json: string): Promise<void> {
    await this.client.tell(rawMessage(this.client.topicNamed(topicName), key, json));
  }

  /** Marks the current end of the topic; later messages come after it. */
  endOffsets(topic: AnyTopic): Promise<ReadMarker> {
    return this.client.endOffsets(topic.name);
  }

  /** True when the group has handled everything before the marker. */
  hasConsumedPast(group: string, marker: ReadMarker): Promise<boolean> {
    return this.client.hasConsumedPast(group, marker);
  }

  /** A readiness check. @throws Error with a message for the operator. */
  health(): Promise<void> {
    return this.client.health();
  }

  /** Waits until pending messages are sent, then disconnects. Open requests fail with BusUnavailable. */
  close(): Promise<void> {
    return this.client.close();
  }

  private within<T>(topic: AnyTopic, timeoutMs: number, { value, forget }: PendingAnswer<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new BusTimeout(topic.name, timeoutMs));
        forget();
      }, timeoutMs);
      const inTime = <R>(settle: (result: R) => void) => {
        return (result: R) => {
          clearTimeout(timer);
          settle(result);
        };
      };
      value.then(inTime(resolve), inTime(reject));
    });
  }
}

function sending({ name }: AnyTopic): SpanPlan {
  return {
    kind: 'producer',
    facts: { 'messaging.destination.name': name, 'messaging.operation.type': 'send' },
  };
}
