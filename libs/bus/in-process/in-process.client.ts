import { BusClient, type ReadMarker } from '../bus.client.js';
import type { BusMessage } from '../message.js';
import type { AnyTopic } from '../topic.js';
import type { InProcessTransport } from './in-process.transport.js';

export class InProcessClient extends BusClient {
  constructor(
    private readonly transport: InProcessTransport,
    topics: readonly AnyTopic[],
  ) {
    super(topics);
  }

  async connect(): Promise<void> {
    this.transport.checkOpen();
  }

  /** The transport is closed by its owner, after every server and client. */
  async close(): Promise<void> {}

  async tell(message: BusMessage): Promise<void> {
    await this.transport.deliver(message, false);
  }

  async endOffsets(topic: string): Promise<ReadMarker> {
    return this.transport.endOf(topic);
  }

  async hasConsumedPast(group: string, marker: ReadMarker): Promise<boolean> {
    return this.transport.hasFinished(group, marker);
  }

  async health(): Promise<void> {
    this.transport.checkOpen();
  }

  override unwrap<T>(): T {
    return this.transport as T;
  }

  protected ask(message: BusMessage, settle: (error: unknown, reply: string | null) => void): () => void {
    this.transport.deliver(message, true).then(
      ([reply]) => {
        // A reply that chaos lost, or a topic whose group is not hosted here: the asker runs into its time limit.
        if (typeof reply === 'string') settle(null, reply);
      },
      (error: unknown) => settle(error, null),
    );
    return () => undefined;
  }
}
