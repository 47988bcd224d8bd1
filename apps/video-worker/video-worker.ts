import { Loop } from '#platform/loop.js';
import type { TaskError } from '#tasks/task-end.js';
import type { LeasedTask } from '#tasks/task-queue.store.js';
import type { Task } from '#tasks/task.js';
import { type FollowerParts, TaskFollower } from './task-follower.js';
import { fileFolders, kindsOfWork } from './task-kinds.js';

/** Rows of one sweep: enough to clear a crash of every gateway within a few rounds, and a short transaction. */
const SWEEP_LIMIT = 100;
/** The idle pause of the claim loop lies between these; it follows the poll interval. */
const CLAIM_PAUSE_MS = { min: 20, max: 500 };
/** Files outlive their addresses by this, for downloads that began in time. */
const PURGE_GRACE_MS = 300_000;
const PURGE_PAUSE_MAX_MS = 300_000;

const neverStarted = ({ kind }: Pick<Task, 'kind'>): TaskError => ({
  code: 'generation_failed',
  message: `The ${kindsOfWork[kind].noun} could not be started.`,
});

/** The loops of the worker: following due tasks, sweeping stuck ones, and removing old files. */
export class VideoWorker {
  private readonly stopping = new AbortController();
  private readonly following = new Set<Promise<void>>();
  private readonly follower: TaskFollower;
  private readonly claims: Loop;
  private readonly sweeps: Loop;
  private readonly purges: Loop;

  constructor(private readonly parts: FollowerParts) {
    const { log, config } = parts;
    this.follower = new TaskFollower(parts);
    const claimMs = Math.min(CLAIM_PAUSE_MS.max, Math.max(CLAIM_PAUSE_MS.min, config.pollIntervalMs / 4));
    this.claims = new Loop({ name: 'claim', intervalMs: claimMs, log, round: () => this.claim() });
    this.sweeps = new Loop({
      name: 'sweep',
      intervalMs: config.sweepIntervalMs,
      log,
      round: () => this.sweep(),
    });
    this.purges = new Loop({
      name: 'purge',
      intervalMs: Math.min(PURGE_PAUSE_MAX_MS, config.videoFileLifeMs),
      log,
      round: () => this.purge(),
    });
  }

  start(): void {
    this.claims.start();
    this.sweeps.start();
    this.purges.start();
  }

  /** Takes no more tasks, and gives back those under way. */
  async stop(): Promise<void> {
    this.stopping.abort(new Error('the worker stops'));
    await Promise.all([this.claims.stop(), this.sweeps.stop(), this.purges.stop()]);
    await Promise.all(this.following);
  }

  private async claim(): Promise<boolean> {
    const { queue, config } = this.parts;
    const free = config.concurrency - this.following.size;
    // Whoever finishes wakes the loop.
    if (free <= 0 || this.stopping.signal.aborted) return false;
    const tasks = await queue.claimDue(free, config.leaseMs);
    for (const task of tasks) this.take(task);
    return false;
  }

  private take(task: LeasedTask): void {
    const { metrics, log, config } = this.parts;
    const work = this.follower
      .follow(task, this.stopping.signal)
      .catch((error: unknown) => log.error({ err: error, taskId: task.id }, 'a step of a task failed'))
      .finally(() => {
        const wasFull = this.following.size >= config.concurrency;
        this.following.delete(work);
        metrics.following.set(this.following.size);
        if (wasFull) this.claims.wake();
      });
    this.following.add(work);
    metrics.following.set(this.following.size);
  }

  private async sweep(): Promise<boolean> {
    const { queue, config, metrics, log, onEnded } = this.parts;
    const stuck = await queue.stuckCreated(config.stuckAfterMs, SWEEP_LIMIT);
    for (const task of stuck) {
      if (!(await queue.failCreated(task, neverStarted(task)))) continue;
      metrics.swept.inc({ state: 'created' });
      log.warn({ taskId: task.id, chargeId: task.chargeId }, 'a task never reached an upstream');
      onEnded();
    }
    const unclear = await queue.giveUpSubmitting(config.stuckAfterMs, SWEEP_LIMIT);
    if (unclear > 0) {
      metrics.swept.inc({ state: 'submitting' }, unclear);
      log.warn({ tasks: unclear }, 'tasks were given up while an upstream was being called');
      this.claims.wake();
    }
    return stuck.length === SWEEP_LIMIT || unclear === SWEEP_LIMIT;
  }

  private async purge(): Promise<void> {
    const { storage, config, log, metrics } = this.parts;
    const lives = new Map(fileFolders.map((folder) => [folder, config.videoFileLifeMs]));
    lives.set('images', config.imageUrlLifeMs);
    for (const [folder, lifeMs] of lives) {
      const removed = await storage.purgeOlderThan(folder, lifeMs + PURGE_GRACE_MS);
      metrics.purged.inc({ folder }, removed);
      if (removed > 0) log.info({ folder, removed }, 'old files were removed');
    }
  }
}
