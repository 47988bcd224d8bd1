import type { CatalogCache } from '#catalog/catalog.cache.js';
import { type Channel, keyMark } from '#catalog/catalog.js';
import type { Clock } from '#platform/clock.js';
import { crashPoint } from '#platform/crash-points.js';
import { traced } from '#platform/tracing.js';
import { FairShare } from '#platform/fair-share.js';
import type { Logger } from '#platform/logging.js';
import type { FileStore } from '#storage/file-store.js';
import type { TaskError } from '#tasks/task-end.js';
import type { LeasedTask } from '#tasks/leased-task.js';
import type { TaskQueue } from '#tasks/task-queue.store.js';
import type { Upstreams } from '#upstream/adapters.js';
import type { ChannelHealth } from '#upstream/health/channel-health.js';
import type { CreateOutcome } from '#upstream/outcomes.js';
import { channelOf } from './channel-of.js';
import { Lease } from './lease.js';
import { COPY_LIMIT_MS, copyFile, type CopyFailure } from './file-copy.js';
import { copyPauseMs, pollPauseMs, type PollResult, wishedMs } from './poll-schedule.js';
import { cancelAtVendor } from './task-cancel.js';
import { kindsOfWork } from './task-kinds.js';
import { noFile, outOfTime } from './task-errors.js';
import { inTaskTrace, tracedPoll } from './task-trace.js';
import type { VideoWorkerConfig } from './video-worker.config.js';
import type { WorkerMetrics } from './worker.metrics.js';

export interface FollowerParts {
  queue: TaskQueue;
  catalog: CatalogCache;
  upstreams: Upstreams;
  health: ChannelHealth;
  storage: FileStore;
  config: VideoWorkerConfig;
  metrics: WorkerMetrics;
  log: Logger;
  clock: Clock;
  /** Called after an end is committed, with its event in the outbox. */
  onEnded: () => void;
}

/** A status is a small answer; a slower one is requested again. */
const POLL_LIMIT_MS = 10_000;

/** How to follow a task. */
export interface FollowOptions {
  stopping: AbortSignal;
  /** Called as soon as the upstream has answered. The copy after it has its own limit. */
  onAsked: () => void;
}

/** What a step of a task needs. */
interface Step {
  channel: Channel;
  lease: Lease;
  onAsked: () => void;
}

/** Takes a due task one step further: polls its upstream and acts on the answer. */
export class TaskFollower {
  /** Places for copying files, shared fairly between accounts. */
  private readonly copies: FairShare;
  /** When our store first took no file since it last took one. */
  private storeOutSinceMs: number | null = null;

  constructor(private readonly parts: FollowerParts) {
    this.copies = new FairShare({ clock: parts.clock, capacity: parts.config.copyConcurrency });
  }

  /** Accounts with many files waiting to be copied. Copying is slower than finishing, so more finished tasks would only wait. */
  behind(files: number): string[] {
    return this.copies.waitingMembers(files);
  }

  /** One step under the task's lease. @throws only database errors; the task comes back when its lease ends. */
  follow(task: LeasedTask, options: FollowOptions): Promise<void> {
    return inTaskTrace('follow task', task, () => this.step(task, options));
  }

  private async step(task: LeasedTask, { stopping, onAsked }: FollowOptions): Promise<void> {
    const { queue, config } = this.parts;
    const lease = new Lease(queue, task, { leaseMs: config.leaseMs, stopping });
    try {
      const channel = await channelOf(this.parts.catalog, task);
      if (!channel) await this.waitOrExpire(task, 'its channel is not in the catalog');
      else if (task.state === 'unknown') await this.clarify(task, channel, lease);
      else await this.poll(task, { channel, lease, onAsked });
    } finally {
      lease.end();
    }
  }

  /** Ends a task that is past its deadline while its channel is paused. @throws only database errors */
  giveUp(task: LeasedTask): Promise<void> {
    return inTaskTrace('give up task', task, async () => {
      await this.expire(task, 'its channel does not answer');
    });
  }

  private async poll(task: LeasedTask, { channel, lease, onAsked }: Step): Promise<void> {
    const { upstreams, health, metrics } = this.parts;
    const signal = AbortSignal.any([lease.signal, AbortSignal.timeout(POLL_LIMIT_MS)]);
    const adapter = upstreams.adapterFor(channel.protocol);
    const ask = () => adapter.pollTask(channel, task.upstreamId ?? '', signal);
    // A poll tells about the health of its channel, whatever the model.
    const work = { accountId: task.accountId, model: null };
    const polled = () => health.run(channel, ask, { work, isGivenUp: () => lease.signal.aborted });
    const answer = await tracedPoll(task, channel, polled);
    // Not polled, because the channel was paused a moment ago. That must never end a task, however old.
    if (answer.kind === 'not_accepted') return this.wait(task, answer.reason);
    // Nor must a shutdown, which aborts the poll.
    if (answer.kind === 'no_answer' && lease.signal.aborted) return this.returnToQueue(task, lease);
    onAsked();
    metrics.polls.inc({ outcome: answer.kind });
    if (answer.kind === 'completed') {
      crashPoint('upstream.ended');
      await this.collect(task, channel, { fileUrl: answer.fileUrl, lease });
    } else if (answer.kind === 'failed') {
      crashPoint('upstream.ended');
      await this.fail(task, { code: answer.code, message: answer.message }, null);
    } else {
      const reason = answer.kind === 'no_answer' ? answer.reason : 'it was still at work';
      await this.waitOrExpire(task, reason, answer);
    }
  }

  /** Copies the file first, then commits the end and its event in one transaction. */
  private async collect(
    task: LeasedTask,
    channel: Channel,
    { fileUrl, lease }: { fileUrl: string; lease: Lease },
  ): Promise<void> {
    const { queue, config, metrics, log } = this.parts;
    const place = await this.copies.take(task.accountId, 1, { waitMs: COPY_LIMIT_MS, signal: lease.signal });
    if (!place.granted && !lease.signal.aborted) return this.wait(task, 'no place was free to copy its file');
    const copying = () => copyFile(this.parts, task, { channel, fileUrl, signal: lease.signal });
    const copy = await traced('store file', {}, copying).finally(() => {
      if (place.granted) place.release();
    });
    if (!copy.ok) return this.copyFailed(task, copy, lease);
    this.storeOutSinceMs = null;
    metrics.copies.inc({ outcome: 'copied' });
    crashPoint('file.copied');
    const { fileType: type } = kindsOfWork[task.kind];
    const file = { key: copy.key, bytes: copy.bytes, type, lifeMs: config.videoFileLifeMs };
    if (await queue.complete(task, file)) {
      log.info({ taskId: task.id, chargeId: task.chargeId, bytes: copy.bytes }, 'a task is finished');
      this.ended('completed');
    } else {
      await this.reportLate(task, 'its file was copied');
    }
  }

  /** Leaves a task whose lease has expired to another worker, which picks it up immediately. */
  private async returnToQueue(task: LeasedTask, lease: Lease): Promise<void> {
    if (!lease.isLost) await this.parts.queue.reschedule(task, { inMs: 0 });
  }

  /** While our store takes no files, the finished work waits there, because it is paid and cannot be had again. */
  private async copyFailed(task: LeasedTask, { reason, isStores }: CopyFailure, lease: Lease): Promise<void> {
    const { queue, config, metrics, log } = this.parts;
    // A shutdown does not count as a failed copy.
    if (lease.signal.aborted) return this.returnToQueue(task, lease);
    metrics.copies.inc({ outcome: 'failed' });
    const failures = task.copyAttempts + 1;
    log.warn(
      { taskId: task.id, channel: task.channelId, failures, isStores, reason },
      'a finished file was not copied',
    );
    if (task.pastDeadline || (!isStores && failures >= config.copyAttempts)) {
      await this.fail(
        task,
        noFile(task, isStores),
        `the upstream finished, but the file could not be copied: ${reason}`,
      );
    } else if (isStores) {
      await this.wait(task, reason, { progress: 99, retryAfterMs: this.storeOutForMs() });
    } else {
      await queue.reschedule(task, { inMs: copyPauseMs(failures, config), progress: 99, copyFailed: true });
    }
  }

  /** Waiting as long again makes tries rarer the longer this lasts: each downloads a whole file. */
  private storeOutForMs(): number {
    const elapsedMs = this.parts.clock.elapsedMs();
    this.storeOutSinceMs ??= elapsedMs;
    return elapsedMs - this.storeOutSinceMs;
  }

  /**
   * Finds out whether an upstream accepted a task, by creating it again under the same key where that is safe. Elsewhere a
   * second create could be a second paid job, so the task only waits for its deadline.
   */
  private async clarify(task: LeasedTask, channel: Channel, lease: Lease): Promise<void> {
    const { queue, upstreams, health } = this.parts;
    const { id: taskId, upstreamModel } = task;
    const work = kindsOfWork[task.kind];
    if (task.pastDeadline) {
      await this.expire(task, 'it never became clear whether the upstream accepted');
      return;
    }
    const adapter = upstreams.adapterFor(channel.protocol);
    // To its vendor, a channel whose key was replaced is another customer, whose repeat would be new work.
    const isSameKey = task.channelKey === null || task.channelKey === keyMark(channel);
    const mayRepeat = isSameKey && adapter.mayRepeat(channel) && work.isRepeatable(task);
    if (!mayRepeat || upstreamModel === null) {
      await queue.waitForDeadline(task);
      return;
    }
    const signal = AbortSignal.any([lease.signal, AbortSignal.timeout(channel.requestTimeoutMs)]);
    const repeat = () =>
      work.create(adapter, channel, {
        task: { ...task, upstreamModel },
        options: { idempotencyKey: task.id, signal },
      });
    const asked = { accountId: task.accountId, model: task.modelId };
    const isGivenUp = () => lease.signal.aborted;
    const answer = await health.run(channel, repeat, { work: asked, isGivenUp });
    this.parts.log.info({ taskId, channel: channel.id, outcome: answer.kind }, 'a create was repeated');
    await this.takeRepeat(task, answer);
  }

  private async takeRepeat(task: LeasedTask, answer: CreateOutcome): Promise<void> {
    const { queue, config } = this.parts;
    if (answer.kind === 'accepted') {
      const accepted = { upstreamId: answer.upstreamId, firstPollMs: config.pollIntervalMs };
      if (!(await queue.toSubmitted(task, accepted))) await this.reportLate(task, 'the upstream accepted it');
    } else if (answer.kind === 'refused' && answer.code === 'video_not_remixable') {
      // The source may be gone since the first attempt, and vendors check it before the key.
      await this.waitOrExpire(task, answer.message);
    } else if (answer.kind === 'refused') {
      // If the first attempt had been accepted, the repeat would have returned its task.
      const { code, message, upstreamStatus } = answer;
      await this.fail(task, { code, message, upstreamStatus }, null);
    } else {
      await this.waitOrExpire(task, answer.reason);
    }
  }

  /** Polls again later, or ends the task after its deadline. */
  private async waitOrExpire(task: LeasedTask, reason: string, answer: PollResult = {}): Promise<void> {
    if (!task.pastDeadline) return this.wait(task, reason, answer);
    // Not awaited: a slow vendor must not delay other tasks.
    if (await this.expire(task, reason)) void cancelAtVendor(this.parts, task);
  }

  private async wait(task: LeasedTask, reason: string, answer: PollResult = {}): Promise<void> {
    const { queue, config, log } = this.parts;
    log.debug({ taskId: task.id, channel: task.channelId, reason }, 'a task is still in progress');
    const inMs = Math.max(pollPauseMs(task.pollAttempts, config), wishedMs(answer.retryAfterMs));
    await queue.reschedule(task, { inMs, progress: answer.progress ?? null });
  }

  private expire(task: LeasedTask, reason: string): Promise<boolean> {
    const accepted = task.state === 'submitted' ? 'accepted' : 'may have accepted';
    return this.fail(task, outOfTime(task), `the upstream ${accepted} and did not end in time: ${reason}`);
  }

  /** @returns whether this ended the task; another end may have come first */
  private async fail(task: LeasedTask, error: TaskError, unbilledCost: string | null): Promise<boolean> {
    const { queue, log } = this.parts;
    if (!(await queue.fail(task, error, unbilledCost))) return false;
    log.info({ taskId: task.id, chargeId: task.chargeId, code: error.code, unbilledCost }, 'a task failed');
    this.ended('failed');
    return true;
  }

  private ended(outcome: 'completed' | 'failed'): void {
    crashPoint('task.ended');
    this.parts.metrics.ended.inc({ outcome });
    this.parts.onEnded();
  }

  /** The task failed first, so nobody is charged, and the operator may pay. Another worker that has it by now reports its end. */
  private async reportLate(task: LeasedTask, what: string): Promise<void> {
    if (!(await this.parts.queue.hasFailed(task))) return;
    this.parts.metrics.late.inc();
    this.parts.log.warn(
      { taskId: task.id, channel: task.channelId, what },
      'a result came after its task had failed',
    );
  }
}
