import type pg from 'pg';
import type { Logger } from '#platform/logging.js';
import type { Registry } from '#platform/metrics.js';
import { untraced } from '#platform/tracing.js';
import type { PriceBook } from '#pricing/price-book.js';
import { NamedError } from '#platform/errors.js';
import type { Answer, Command } from './batch.js';
import { BatchMemory } from './batch-memory.js';
import type { HoldCommand, HoldResult, ResolveCommand, ResolveResult } from './charge.js';
import { EngineMetrics } from './engine-metrics.js';
import { Lane } from './lane.js';

/** A larger batch gains no throughput and makes everyone in it wait longer. */
const DEFAULT_MAX_BATCH = 400;
/** Batches on their way to the database at once on a lane: it works on one while the next is decided here. */
const MOST_SENT = 2;
/**
 * Postings that must wait before a batch follows another that is not answered yet. With twice as many, a batch leaves half of
 * them to the next. Smaller batches would cost more processor time than the waiting that they save.
 */
const DEFAULT_FOLLOW_FROM = 8;
/**
 * Postings that must wait before a second lane runs beside the first, unless that one waits for a lock. With fewer, two
 * small batches would only wake more processes.
 */
const SECOND_LANE_FROM = 128;
/** A batch without an answer for so long waits for a lock. The other lane takes what it can. */
const STALL_MS = 250;
/** Sequence values between two batches' transaction ids; a batch may not hold more commands. */
const TRANSACTION_BLOCK = 1000;
/** Postings that a batch may pass over because their charge or account is in another one. More are not looked at. */
const MOST_PASSED = 1000;
/** Commands waiting for a batch. Beyond this, callers must retry, so that memory stays bounded. */
const MAX_WAITING = 50_000;

export interface PostingEngineOptions {
  pool: pg.Pool;
  /** Reads prices inside the batch's transaction. */
  loadPriceBook: (client: pg.ClientBase) => Promise<PriceBook>;
  log: Logger;
  registry?: Registry;
  /** Called after each commit that left announcements in the outbox. */
  onCommitted?: () => void;
  maxBatch?: number;
  /** Postings that must wait before a batch follows one that is not answered yet. */
  followFrom?: number;
  /** Whether `charge.settled` is published, for programs that read it; nothing of ours does. */
  publishesSettlements?: boolean;
}

interface Waiting {
  entry: Command;
  resolve: (result: HoldResult | ResolveResult) => void;
  reject: (error: unknown) => void;
}

export class EngineOverloaded extends NamedError {
  constructor() {
    super(`more than ${MAX_WAITING} postings are waiting`);
  }
}

/**
 * Posts holds and resolutions to the ledger by group commit: while batches are on their way, the next one gathers. Several
 * engines may run on one database.
 */
export class PostingEngine {
  private waiting: Waiting[] = [];
  /** The charges of batches in progress. */
  private readonly inFlight = new Set<string>();
  /** The accounts of batches in progress. Without a lane, the next batch may take it from any. */
  private readonly accounts = new Map<string, { lane: Lane | null; commands: number }>();
  /** Batches in progress, by their lanes, in order. */
  private readonly running = new Map<Lane, Waiting[][]>();
  private readonly stalled = new Set<Lane>();
  private scheduled = false;
  private idle: (() => void)[] = [];
  private readonly maxBatch: number;
  private readonly followFrom: number;
  private readonly lanes: readonly [Lane, Lane];

  constructor(options: PostingEngineOptions) {
    this.maxBatch = Math.min(options.maxBatch ?? DEFAULT_MAX_BATCH, TRANSACTION_BLOCK);
    this.followFrom = options.followFrom ?? DEFAULT_FOLLOW_FROM;
    const { pool, loadPriceBook, log, registry, onCommitted, publishesSettlements = false } = options;
    const metrics = registry ? new EngineMetrics(registry) : undefined;
    const memory = new BatchMemory();
    const shared = { pool, loadPriceBook, log, memory, metrics, onCommitted, publishesSettlements };
    this.lanes = [new Lane(shared), new Lane(shared)];
    for (const lane of this.lanes) this.running.set(lane, []);
  }

  /**
   * Holds the price of a request on the account's balance, or stores why not.
   * @throws the database's error when it is down, EngineOverloaded; safe to repeat with the same charge id
   */
  hold(command: HoldCommand): Promise<HoldResult> {
    return this.enqueue<HoldResult>({ kind: 'hold', command });
  }

  /**
   * Settles what was delivered and releases the rest, once. A repeat returns what was stored.
   * @throws BrokenRule for work that was never held; the database's error when it is down.
   */
  resolve(command: ResolveCommand): Promise<ResolveResult> {
    return this.enqueue<ResolveResult>({ kind: 'resolve', command });
  }

  /** Resolves when everything submitted so far has been answered. */
  async close(): Promise<void> {
    if (!this.isIdle()) await new Promise<void>((resolve) => this.idle.push(resolve));
    for (const lane of this.lanes) lane.close();
  }

  private enqueue<T extends HoldResult | ResolveResult>(entry: Command): Promise<T> {
    if (this.waiting.length >= MAX_WAITING) return Promise.reject(new EngineOverloaded());
    return new Promise<T>((resolve, reject) => {
      this.waiting.push({ entry, resolve: resolve as Waiting['resolve'], reject });
      this.schedule();
    });
  }

  /** Starts a batch at the end of this turn of the event loop, so that its callers share it. */
  private schedule(): void {
    if (this.scheduled || !this.lanes.some((lane) => this.isFree(lane))) return;
    this.scheduled = true;
    untraced(() =>
      setImmediate(() => {
        this.scheduled = false;
        this.startBatches();
      }),
    );
  }

  private startBatches(): void {
    for (const lane of this.lanes) {
      while (this.isFree(lane)) {
        const batch = this.takeBatch(lane);
        if (batch.length === 0) break;
        void this.runBatch(lane, batch);
      }
    }
  }

  /** Whether a lane may take a batch of what waits now. */
  private isFree(lane: Lane): boolean {
    const { length } = this.waiting;
    if (length === 0 || lane.locking > 0 || lane.sent >= MOST_SENT || this.stalled.has(lane)) return false;
    if (lane.sent > 0) return length >= this.followFrom;
    return this.isUnused() || length >= SECOND_LANE_FROM || this.stalled.size > 0;
  }

  private isUnused(): boolean {
    return this.lanes.every((lane) => this.running.get(lane)!.length === 0);
  }

  private isIdle(): boolean {
    return this.waiting.length === 0 && this.isUnused();
  }

  private async runBatch(lane: Lane, batch: Waiting[]): Promise<void> {
    const running = this.running.get(lane)!;
    running.push(batch);
    const stall = setInterval(() => this.passBy(lane, batch), STALL_MS);
    const answers = await lane.run(batch.map(({ entry }) => entry));
    clearInterval(stall);
    running.splice(running.indexOf(batch), 1);
    this.stalled.delete(lane);
    batch.forEach((item, index) => answer(item, answers[index]));
    for (const { entry } of batch) this.release(entry);
    this.startBatches();
    if (this.isIdle()) for (const resolve of this.idle.splice(0)) resolve();
  }

  /**
   * Lets the other lane take the accounts of the batches behind one that waits for a lock. What it writes, those batches
   * find when they are proved. The accounts of the waiting batch may be locked by it.
   */
  private passBy(lane: Lane, batch: Waiting[]): void {
    const [first, ...behind] = this.running.get(lane)!;
    if (first !== batch) return;
    this.stalled.add(lane);
    const locked = new Set(batch.map(({ entry }) => entry.command.accountId));
    for (const { entry } of behind.flat()) {
      const used = this.accounts.get(entry.command.accountId)!;
      if (used.lane === lane && !locked.has(entry.command.accountId)) used.lane = null;
    }
    this.startBatches();
  }

  /** One command per charge id at a time, and one lane per account. Others wait for their answers. */
  private takeBatch(lane: Lane): Waiting[] {
    const batch: Waiting[] = [];
    const deferred: Waiting[] = [];
    const passed = new Set<string>();
    const most = this.mostOf(lane);
    let next = 0;
    for (; next < this.waiting.length && batch.length < most && deferred.length < MOST_PASSED; next += 1) {
      const item = this.waiting[next] as Waiting;
      const { chargeId, accountId } = item.entry.command;
      const used = this.accounts.get(accountId);
      if (this.inFlight.has(chargeId) || passed.has(chargeId) || (used?.lane && used.lane !== lane)) {
        deferred.push(item);
        passed.add(chargeId);
        continue;
      }
      batch.push(item);
      this.inFlight.add(chargeId);
      this.accounts.set(accountId, { lane, commands: (used?.commands ?? 0) + 1 });
    }
    if (batch.length > 0) this.waiting = [...deferred, ...this.waiting.slice(next)];
    return batch;
  }

  private mostOf(lane: Lane): number {
    const { length } = this.waiting;
    const isShared = lane.sent === 0 && length >= 2 * this.followFrom;
    return Math.min(this.maxBatch, isShared ? Math.ceil(length / 2) : length);
  }

  private release({ command: { chargeId, accountId } }: Command): void {
    this.inFlight.delete(chargeId);
    const used = this.accounts.get(accountId)!;
    used.commands -= 1;
    if (used.commands === 0) this.accounts.delete(accountId);
  }
}

function answer(item: Waiting, result: Answer | undefined): void {
  if (result === undefined || result instanceof Error)
    item.reject(result ?? new Error('a batch lost a result'));
  else item.resolve(result);
}
