import { BusServer } from '../bus.server.js';
import type { ConsumerOptions, Delivery } from '../delivery.js';
import type { AnyTopic } from '../topic.js';
import type { InProcessTransport } from './in-process.transport.js';

export class InProcessServer extends BusServer {
  private deliveries: Delivery[] = [];

  constructor(
    private readonly transport: InProcessTransport,
    options: ConsumerOptions,
    topics: readonly AnyTopic[],
  ) {
    super(options, topics);
  }

  async close(): Promise<void> {
    await Promise.all(this.options.groups.map((group) => this.transport.detach(group)));
    await Promise.all(this.deliveries.map((delivery) => delivery.drain()));
  }

  override unwrap<T>(): T {
    return this.transport as T;
  }

  protected async start(deliveries: Delivery[]): Promise<void> {
    this.deliveries = deliveries;
    for (const delivery of deliveries) this.transport.attach(delivery);
    if (deliveries.some(({ topic }) => topic.broadcast)) this.options.onAssigned?.();
  }
}
