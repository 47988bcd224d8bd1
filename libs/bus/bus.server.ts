import { Server, type CustomTransportStrategy, type MessageHandler } from '@nestjs/microservices';
import { BusWiringError } from './bus.errors.js';
import { MessageDelivery, type ConsumerOptions } from './delivery.js';
import { BUS_TRANSPORT } from './handles.decorator.js';
import type { AnyTopic } from './topic.js';

interface Registration {
  topic: string;
  group: string;
  handler: MessageHandler;
}

/** The consuming end, behind Nest's interface: collects the handlers, checks them at startup, and passes them on. */
export abstract class BusServer extends Server implements CustomTransportStrategy {
  override readonly transportId = BUS_TRANSPORT;
  override readonly propagatesEventHandlerErrors = true;
  private readonly registrations: Registration[] = [];

  constructor(
    protected readonly options: ConsumerOptions,
    private readonly topics: readonly AnyTopic[],
  ) {
    super();
  }

  /** Nest would silently overwrite a second handler of a request. All are kept, and the startup check reports them. */
  override addHandler(
    pattern: string,
    handler: MessageHandler,
    ...[, extras = {}]: [isEvent?: boolean, extras?: Record<string, unknown>]
  ): void {
    const group = String(extras['group']);
    this.registrations.push({ topic: pattern, group, handler });
    this.messageHandlers.set(`${pattern}@${group}`, handler);
  }

  async listen(callback: (error?: unknown) => void): Promise<void> {
    try {
      await this.start(this.checkedDeliveries());
      callback();
    } catch (error) {
      callback(error);
    }
  }

  protected abstract start(deliveries: MessageDelivery[]): Promise<void>;

  /** Resolves when no message is being handled. */
  abstract override close(): Promise<void>;

  override on(event: string): never {
    throw new Error(`the bus has no event ${event} to listen to: use its options`);
  }

  /** @throws BusWiringError unless each topic has exactly one handler for each consumer group hosted here. */
  private checkedDeliveries(): MessageDelivery[] {
    const faults = [...this.missingOrDoubled(), ...this.strangers()];
    if (faults.length > 0) throw new BusWiringError(faults);
    return this.registrations.map(({ topic, group, handler }) => {
      const declared = this.topics.find(({ name }) => name === topic) as AnyTopic;
      return new MessageDelivery({ topic: declared, group, handler }, this.options);
    });
  }

  private missingOrDoubled(): string[] {
    const expected = this.options.groups.flatMap((group) =>
      this.topics
        .filter((topic) => topic.groups.includes(group))
        .map((topic) => ({ topic: topic.name, group })),
    );
    return expected.flatMap(({ topic, group }) => {
      const count = this.registrations.filter((each) => each.topic === topic && each.group === group).length;
      if (count === 1) return [];
      return count === 0
        ? [
            `${topic} has no handler for ${group}: put @Handles on a method of a controller in ${group}'s module.`,
          ]
        : [`${topic} has ${count} handlers for ${group}: keep one, and let it call the others.`];
    });
  }

  private strangers(): string[] {
    const { groups } = this.options;
    return this.registrations.flatMap(({ topic, group }) => {
      if (!this.topics.some(({ name }) => name === topic))
        return [`${topic} is handled but not among the topics.`];
      if (groups.includes(group)) return [];
      return [
        `${topic} is handled for ${group}, which is not hosted here: add ${group} to the server's groups.`,
      ];
    });
  }
}
