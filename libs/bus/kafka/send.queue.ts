import type { TopicMessages } from 'kafkajs';
import { BusUnavailable } from '../bus.errors.js';

export interface OutgoingMessage {
  topic: string;
  key: string | null;
  value: string | null;
  headers: Record<string, string>;
  /** True when nobody waits for this message any more, so that it need not be sent late. */
  isForgotten?: () => boolean;
}

interface Entry {
  messages: OutgoingMessage[];
  resolve: () => void;
  reject: (error: Error) => void;
}

/** Enough for a busy second; more waiting means that the broker does not follow. */
const MAX_WAITING = 10_000;
const MAX_ENTRIES_PER_SEND = 500;

/**
 * Gathers what is to be sent while a request to the brokers is under way, and sends it together when that returns: no
 * timer, so a lone message goes at once. One request at a time keeps the order of each key, even across its retries.
 */
export class SendQueue {
  private waiting: Entry[] = [];
  private sending: Promise<void> | undefined;
  private closed = false;

  constructor(private readonly send: (topicMessages: TopicMessages[]) => Promise<unknown>) {}

  /** Resolves when every in-sync replica has the messages. @throws BusUnavailable */
  add(messages: OutgoingMessage[]): Promise<void> {
    if (this.closed) return Promise.reject(new BusUnavailable('the bus is closed'));
    if (this.waiting.length >= MAX_WAITING) {
      return Promise.reject(new BusUnavailable(`${this.waiting.length} messages wait for the broker`));
    }
    return new Promise((resolve, reject) => {
      this.waiting.push({ messages, resolve, reject });
      this.sending ??= this.drain();
    });
  }

  async close(): Promise<void> {
    this.closed = true;
    await this.sending;
  }

  private async drain(): Promise<void> {
    // One turn of the event loop gathers what the same burst asks for.
    await Promise.resolve();
    while (this.waiting.length > 0) await this.sendTogether(this.waiting.splice(0, MAX_ENTRIES_PER_SEND));
    this.sending = undefined;
  }

  private async sendTogether(entries: Entry[]): Promise<void> {
    const messages = entries.flatMap((entry) => entry.messages).filter((message) => !message.isForgotten?.());
    try {
      if (messages.length > 0) await this.send(byTopic(messages));
      for (const { resolve } of entries) resolve();
    } catch (cause) {
      const error = new BusUnavailable('the broker did not take the message', { cause });
      for (const { reject } of entries) reject(error);
    }
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
