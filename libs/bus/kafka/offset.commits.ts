import type { EachBatchPayload } from 'kafkajs';
import { setTimeout as pause } from 'node:timers/promises';
import { backoffMs, type BackoffOptions } from '../backoff.js';

interface Commit {
  payload: EachBatchPayload;
  /** The first message that is not done. */
  offset: string;
}

/**
 * Commits how far each partition was handled, behind the handling: a broker gathers commits for milliseconds, and no
 * message should wait for that. What a program had handled and not committed when it died is delivered again.
 */
export class OffsetCommits {
  private latest = new Map<string, Commit>();
  private running: Promise<void> | undefined;
  private failure: Error | undefined;
  private assignment = 0;
  private readonly closing = new AbortController();

  constructor(private readonly backoff: BackoffOptions) {}

  add(commit: Commit): void {
    const { topic, partition } = commit.payload.batch;
    this.latest.set(`${topic}/${partition}`, commit);
    this.running ??= this.run();
  }

  /** The group has assigned its partitions again: they start from what it knows. */
  forget(): void {
    this.assignment += 1;
    this.latest.clear();
    this.failure = undefined;
  }

  /** @throws what the last commit failed with, once: a member that the group has lost must join again. */
  check(): void {
    const { failure } = this;
    this.failure = undefined;
    if (failure) throw failure;
  }

  /** Resolves when everything is committed; after `close`, also when the broker refused it once. */
  async settled(): Promise<void> {
    await this.running;
  }

  async close(): Promise<void> {
    this.closing.abort();
    await this.settled();
  }

  private async run(): Promise<void> {
    let failures = 0;
    while (this.latest.size > 0) {
      failures = (await this.commitLatest()) ? 0 : failures + 1;
      if (failures === 0) continue;
      if (this.closing.signal.aborted) break;
      await pause(backoffMs(failures, this.backoff), undefined, this.closing).catch(() => undefined);
    }
    this.running = undefined;
  }

  /** @returns false when it must be tried again */
  private async commitLatest(): Promise<boolean> {
    const { latest: commits, assignment } = this;
    this.latest = new Map();
    try {
      await commitTogether([...commits.values()]);
    } catch (error) {
      if (assignment !== this.assignment) return true;
      this.failure = error as Error;
      // Unless handled further meanwhile.
      this.latest = new Map([...commits, ...this.latest]);
      return false;
    }
    return true;
  }
}

async function commitTogether(commits: readonly Commit[]): Promise<void> {
  const topics = new Map<string, { partition: number; offset: string }[]>();
  for (const { payload, offset } of commits) {
    const { topic, partition } = payload.batch;
    topics.set(topic, [...(topics.get(topic) ?? []), { partition, offset }]);
  }
  await commits.at(-1)?.payload.commitOffsetsIfNecessary({
    topics: [...topics].map(([topic, partitions]) => ({ topic, partitions })),
  });
}
