import { Loop } from '#platform/loop.js';
import type { LeasedTask } from '#tasks/leased-task.js';
import { type FollowerParts, TaskFollower } from './task-follower.js';
import { neverStarted } from './task-errors.js';
import { fileFolders } from './task-kinds.js';
import { WorkPlaces } from './work-places.js';

/** Rows per sweep: enough to recover from a crash of all gateways within a few rounds, each a short transaction. */
const SWEEP_LIMIT = 100;
/**
 * Limits of the claim loop's idle pause, which follows the poll interval. Short pauses spread thousands of polls evenly, so
 * that they need few connections.
 */
const CLAIM_PAUSE_MS = { min: 20, max: 100 };
/** A claim limited by free places continues once this share of them is free: fewer, larger claims. */
const WORTH_A_CLAIM = 0.25;
/** A deadline that falls into an outage waits until the channel has been tried this many times. */
const TRIALS_AFTER_DEADLINE = 2;
/** Files are kept this much longer than their URLs work, for downloads that began in time. */
const PURGE_GRACE_MS = 300_000;
const PURGE_PAUSE_MAX_MS = 300_000;

/** The loops of the worker: following due tasks, sweeping stuck ones, and removing old files. */
export class VideoWorker {
  private readonly stopping = new AbortController();
  private readonly following = new Set<Promise<void>>();
  private readonly follower: TaskFollower;
  private readonly places: WorkPlaces;
  /** The last claim may have left due tasks behind, for lack of places. */
  private isShort = false;
  /** Channels that may have had more due tasks than the last claim took. */
  private readonly backlogged = new Set<string>();
  private readonly claims: Loop;
  private readonly sweeps: Loop;
  private readonly purges: Loop;

  constructor(private readonly parts: FollowerParts) {
    const { log, config } = parts;
    this.follower = new TaskFollower(parts);
    this.places = new WorkPlaces(config.concurrency, parts.health);
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

  /** Takes no more tasks, and returns those in progress to the queue. */
  async stop(): Promise<void> {
    this.stopping.abort(new Error('the worker stops'));
    await Promise.all([this.claims.stop(), this.sweeps.stop(), this.purges.stop()]);
    await Promise.all(this.following);
  }

  private async claim(): Promise<void> {
    const { queue, config, catalog } = this.parts;
    this.isShort = true;
    if (!this.mayTake) return;
    const { channels } = await catalog.get();
    const places = this.places.freeOn(channels);
    const limit = this.places.free;
    const { leaseMs } = config;
    // If not all can be taken, it matters whose they are.
    const isShared = [...places.keys()].some((id) => this.backlogged.has(id));
    const inHand = isShared ? this.places.ofAccounts : undefined;
    const order = { limit, leaseMs, inHand, without: this.follower.behind(config.concurrency) };
    const tasks = places.size === 0 ? [] : await queue.claimDue(places, order);
    for (const task of tasks) this.take(task);
    const isLimited = tasks.length === limit;
    const usedUp = usedUpOf(places, tasks);
    for (const id of places.keys())
      if (isLimited || usedUp.has(id)) this.backlogged.add(id);
      else this.backlogged.delete(id);
    this.isShort = isLimited || usedUp.size > 0;
  }

  private get mayTake(): boolean {
    return this.places.free > 0 && !this.stopping.signal.aborted;
  }

  private take(task: LeasedTask): void {
    const leave = this.places.take(task);
    const onAsked = () => {
      leave();
      this.goOn();
    };
    this.keep(task, this.follower.follow(task, { stopping: this.stopping.signal, onAsked }).finally(onAsked));
  }

  /** A freed place wakes a claim that was cut short. */
  private goOn(): void {
    const isWorthIt = this.places.free >= this.parts.config.concurrency * WORTH_A_CLAIM;
    if (this.isShort && isWorthIt) this.claims.wake();
  }

  private keep(task: LeasedTask, step: Promise<void>): void {
    const { metrics, log } = this.parts;
    const work = step
      .catch((error: unknown) => log.error({ err: error, taskId: task.id }, 'a step of a task failed'))
      .finally(() => {
        this.following.delete(work);
        metrics.following.set(this.following.size);
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
      log.warn({ tasks: unclear }, 'tasks were abandoned while an upstream was being called');
      this.claims.wake();
    }
    const forgotten = await this.sweepChannels();
    return [stuck.length, unclear, forgotten].includes(SWEEP_LIMIT);
  }

  /** What claims by channel leave out: channels that are unknown or removed, and deadlines of paused channels. */
  private async sweepChannels(): Promise<number> {
    const { queue, config, catalog, health } = this.parts;
    const { leaseMs, channelOpenMs } = config;
    const ids = (await catalog.get()).channels.map(({ id }) => id);
    const limit = this.mayTake ? Math.min(SWEEP_LIMIT, this.places.free) : 0;
    const strays = await queue.claimStray(ids, { limit, leaseMs });
    for (const task of strays) this.take(task);
    const alone = ids.filter((id) => health.state(id, null) !== 'closed');
    if (alone.length === 0) return strays.length;
    const graceMs = channelOpenMs * TRIALS_AFTER_DEADLINE;
    const overdue = await queue.claimOverdue(alone, { limit: SWEEP_LIMIT, leaseMs, graceMs });
    for (const task of overdue) this.keep(task, this.follower.giveUp(task));
    return Math.max(strays.length, overdue.length);
  }

  private async purge(): Promise<void> {
    const { storage, config, log, metrics } = this.parts;
    const lives = new Map(fileFolders.map((folder) => [folder, config.videoFileLifeMs]));
    lives.set('images', config.imageUrlLifeMs);
    // The gateway removes them with their keys. This removes what remains after a crash or an outage of the store.
    lives.set('answers', config.idempotencyLifeMs);
    for (const [folder, lifeMs] of lives) {
      const removed = await storage.purgeOlderThan(folder, lifeMs + PURGE_GRACE_MS);
      metrics.purged.inc({ folder }, removed);
      if (removed > 0) log.info({ folder, removed }, 'old files were removed');
    }
  }
}

/** The channels that yielded as many tasks as they had places. */
function usedUpOf(places: ReadonlyMap<string, number>, tasks: readonly LeasedTask[]): Set<string> {
  const counts = new Map<string | null, number>();
  for (const { channelId } of tasks) counts.set(channelId, (counts.get(channelId) ?? 0) + 1);
  return new Set([...places].flatMap(([id, count]) => (counts.get(id) === count ? [id] : [])));
}
