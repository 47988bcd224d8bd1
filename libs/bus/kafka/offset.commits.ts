import type { EachBatchPayload } from 'kafkajs';
import { setTimeout as pause } from 'node:timers/promises';
import { backoffMs, type BackoffOptions } from '../backoff.js';

interface Commit {
  payload: EachBatchPayload;
  /** The first unfinished message. */
  offset: string;
}

/**
 * Commits how far each partition was handled, in the background: a broker gathers commits for milliseconds, and no message
 * should wait for that. Messages that were handled but not committed when a program died are delivered again.
 */
export class OffsetCommits {
  private latest = new Map<string, Commit>();
  private running: Promise<void> | undefined;
  private failure: Error | undefined;
  private assignment = 0;
  private leaving = new AbortController();

  constructor(private readonly backoff: BackoffOptions) {}

  add(commit: Commit): void {
    const { topic, partition } = commit.payload.batch;
    this.latest.set(`${topic}/${partition}`, commit);
    this.running ??= this.run();
  }

  /** Called after partitions are reassigned: they start from the committed offsets. */
  forget(): void {
    this.assignment += 1;
    this.latest.clear();
    this.failure = undefined;
    this.leaving = new AbortController();
  }

  /** @throws the error of the last failed commit, once: a member that the group has dropped must rejoin. */
  check(): void {
    const { failure } = this;
    this.failure = undefined;
    if (failure) throw failure;
  }

  /**
   * Commits what is left before the member leaves or rejoins. Gives up if the broker refuses: a lost membership does not
   * come back, and the other members are waiting.
   */
  async flush(): Promise<void> {
    this.leaving.abort();
    await this.running;
  }

  private async run(): Promise<void> {
    let failures = 0;
    while (this.latest.size > 0) {
      failures = (await this.commitLatest()) ? 0 : failures + 1;
      if (failures === 0) continue;
      if (this.leaving.signal.aborted) break;
      await pause(backoffMs(failures, this.backoff), undefined, this.leaving).catch(() => undefined);
    }
    this.running = undefined;
  }

  /** @returns false if it must be tried again */
  private async commitLatest(): Promise<boolean> {
    const { latest: commits, assignment } = this;
    this.latest = new Map();
    try {
      await commitTogether([...commits.values()]);
    } catch (error) {
      if (assignment !== this.assignment) return true;
      this.failure = error as Error;
      // Unless more was handled in the meantime.
      this.latest = new Map([...commits, ...this.latest]);
      return false;
    }
    // Offsets refused earlier were committed with it, or overtaken.
    this.failure = undefined;
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
