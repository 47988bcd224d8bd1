import type { TopicMessages } from 'kafkajs';
import { BusUnavailable } from '../bus.errors.js';
import { Gathering } from './gathering.js';

export interface OutgoingMessage {
  topic: string;
  key: string | null;
  value: string | null;
  headers: Record<string, string>;
  /** True when nobody waits for this message anymore, so it need not be sent late. */
  isForgotten?: () => boolean;
}

/** Enough for a busy second; if more wait, the broker cannot keep up. */
const MAX_WAITING = 10_000;
const MAX_ITEMS_PER_SEND = 500;

/**
 * Sends messages to the brokers one request at a time, each with everything that is waiting. This keeps the order of each
 * key, even across retries.
 */
export class SendQueue {
  private readonly gathering: Gathering<OutgoingMessage[]>;
  private closed = false;

  constructor(send: (topicMessages: TopicMessages[]) => Promise<unknown>) {
    this.gathering = new Gathering(MAX_ITEMS_PER_SEND, async (items) => {
      const messages = items.flat().filter((message) => !message.isForgotten?.());
      if (messages.length === 0) return;
      await send(byTopic(messages)).catch((cause: unknown) => {
        throw new BusUnavailable('the broker did not take the message', { cause });
      });
    });
  }

  /** Resolves when every in-sync replica has the messages. @throws BusUnavailable */
  async add(messages: OutgoingMessage[]): Promise<void> {
    if (this.closed) throw new BusUnavailable('the bus is closed');
    if (this.gathering.size >= MAX_WAITING) {
      throw new BusUnavailable(`${this.gathering.size} messages wait for the broker`);
    }
    await this.gathering.add(messages);
  }

  async close(): Promise<void> {
    this.closed = true;
    await this.gathering.idle();
  }
}

function byTopic(messages: readonly OutgoingMessage[]): TopicMessages[] {
  const topics = new Map<string, TopicMessages>();
  for (const { topic, key, value, headers } of messages) {
    const entry = topics.get(topic) ?? { topic, messages: [] };
    entry.messages.push({ key, value, headers });
    topics.set(topic, entry);
  }
  return [...topics.values()];
}
