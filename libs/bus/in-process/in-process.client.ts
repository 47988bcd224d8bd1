import { BusClient, type ReadMarker } from '../bus.client.js';
import type { BusMessage } from '../message.js';
import type { InProcessBroker } from './in-process.broker.js';

export class InProcessClient extends BusClient {
  constructor(private readonly broker: InProcessBroker) {
    super(broker.topics);
  }

  async connect(): Promise<void> {
    this.broker.checkOpen();
  }

  /** The owner closes the broker, after every server and client. */
  async close(): Promise<void> {}

  async tell(message: BusMessage): Promise<void> {
    await this.broker.deliver(message, false);
  }

  async endOffsets(topic: string): Promise<ReadMarker> {
    return this.broker.endOf(topic);
  }

  async hasConsumedPast(group: string, marker: ReadMarker): Promise<boolean> {
    return this.broker.hasFinished(group, marker);
  }

  async health(): Promise<void> {
    this.broker.checkOpen();
  }

  override unwrap<T>(): T {
    return this.broker as T;
  }

  protected ask(message: BusMessage, settle: (error: unknown, reply: string | null) => void): () => void {
    this.broker.deliver(message, true).then(
      ([reply]) => {
        // Chaos dropped the reply, or the group is not hosted here: the request times out.
        if (typeof reply === 'string') settle(null, reply);
      },
      (error: unknown) => settle(error, null),
    );
    return () => undefined;
  }
}
