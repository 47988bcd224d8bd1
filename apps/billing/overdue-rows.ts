import type { Bus } from '#bus/bus.js';
import type { ReadMarker } from '#bus/bus.client.js';
import type { AnyTopic } from '#bus/topic.js';
import { groups } from '#bus/topics.js';

/**
 * Holds back rows that look overdue until billing has read everything that was in the topic when they were found: the
 * message that resolves them may only be late. The order matters. First the rows are found, none of them in the outbox. Then
 * the marker is taken, so that everything the outbox published is before it. The rows are judged again only once the marker
 * has been passed.
 */
export class OverdueRows<T> {
  private waiting: { found: T[]; marker: ReadMarker } | undefined;

  constructor(
    private readonly bus: Bus,
    private readonly topic: AnyTopic,
  ) {}

  /** The rows to judge again, or none while messages in front of their marker are not handled yet. */
  async confirmed(find: () => Promise<T[]>): Promise<T[]> {
    this.waiting ??= await this.mark(find);
    if (!this.waiting || !(await this.bus.hasConsumedPast(groups.billing, this.waiting.marker))) return [];
    const { found } = this.waiting;
    this.waiting = undefined;
    return found;
  }

  private async mark(find: () => Promise<T[]>): Promise<{ found: T[]; marker: ReadMarker } | undefined> {
    const found = await find();
    return found.length === 0 ? undefined : { found, marker: await this.bus.endOffsets(this.topic) };
  }
}
