import { BusServer } from '../bus.server.js';
import type { ConsumerOptions, MessageDelivery } from '../delivery.js';
import type { InProcessBroker } from './in-process.broker.js';

export class InProcessServer extends BusServer {
  private deliveries: MessageDelivery[] = [];

  constructor(
    private readonly broker: InProcessBroker,
    options: ConsumerOptions,
  ) {
    super(options, broker.topics);
  }

  async close(): Promise<void> {
    await Promise.all(this.options.groups.map((group) => this.broker.detach(group)));
    await Promise.all(this.deliveries.map((delivery) => delivery.drain()));
  }

  override unwrap<T>(): T {
    return this.broker as T;
  }

  protected async start(deliveries: MessageDelivery[]): Promise<void> {
    this.deliveries = deliveries;
    for (const delivery of deliveries) this.broker.attach(delivery);
    if (deliveries.some(({ topic }) => topic.broadcast)) this.options.onAssigned?.();
  }
}
