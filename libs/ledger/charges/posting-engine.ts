import type pg from 'pg';
import { isTransient } from '#database/database.js';
import type { Logger } from '#platform/logging.js';
import type { Registry } from '#platform/metrics.js';
import { untraced } from '#platform/tracing.js';
import type { Family, PriceBook } from '#pricing/price-book.js';
import type { BatchPlan, BatchState, Command, Result } from './batch.js';
import { addKnown, BatchMemory, isProvable, proofOf, type Taken } from './batch-memory.js';
import { planBatch } from './batch-plan.js';
import { EngineMetrics } from './engine-metrics.js';
import {
  BrokenRule,
  type HoldCommand,
  type HoldResult,
  type ResolveCommand,
  type ResolveResult,
} from './charge.js';
import { type BatchContext, lockAndRead } from './batch-reader.js';
import { EngineConnections } from './engine-connections.js';
import { isPassing, writeAndCommit, type WriteOrder } from './batch-writer.js';

/** A larger batch gains no throughput and makes everyone in it wait longer. */
const DEFAULT_MAX_BATCH = 400;
/** Concurrent batches: one is decided here while the database writes the other. More would only wait for its locks. */
const LANES = 2;
/**
 * Postings that must wait before a second batch runs beside the first. With fewer, two small batches would only wake
 * more processes and wait for each other's locks, and everyone's answer would arrive later.
 */
const SECOND_LANE_FROM = 128;
/** Sequence values between two batches' transaction ids; a batch may not hold more commands. */
const TRANSACTION_BLOCK = 1000;
/** Attempts per batch before its error counts: deadlocks and conflicts are temporary, and each attempt is cheap. */
const MAX_RUNS = 8;
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
  /** Whether `charge.settled` is published, for programs that read it; nothing of ours does. */
  publishesSettlements?: boolean;
}

interface Waiting {
  entry: Command;
  resolve: (result: HoldResult | ResolveResult) => void;
  reject: (error: unknown) => void;
}

interface BatchRun {
  readonly commands: Command[];
  readonly isFirst: boolean;
  readonly context: BatchContext;
}

export class EngineOverloaded extends Error {
  constructor() {
    super(`more than ${MAX_WAITING} postings are waiting`);
    this.name = 'EngineOverloaded';
  }
}

/**
 * Posts holds and resolutions to the ledger by group commit: while transactions are in progress, the next batch
 * gathers, and starts when one of them returns. Several engines may run on one database.
 */
export class PostingEngine {
  private waiting: Waiting[] = [];
  /** The charges of batches in progress. */
  private readonly inFlight = new Set<string>();
  /** Batches in progress, at most LANES. */
  private lanes = 0;
  private scheduled = false;
  private idle: (() => void)[] = [];
  private readonly maxBatch: number;
  private context: BatchContext | undefined;
  private readonly memory = new BatchMemory();
  private readonly metrics: EngineMetrics | undefined;
  private readonly connections: EngineConnections;

  constructor(private readonly options: PostingEngineOptions) {
    this.maxBatch = Math.min(options.maxBatch ?? DEFAULT_MAX_BATCH, TRANSACTION_BLOCK);
    this.metrics = options.registry ? new EngineMetrics(options.registry) : undefined;
    // Another server may have taken over, where versions and revisions may have another meaning.
    this.connections = new EngineConnections(options.pool, () => {
      this.memory.forget();
      this.context = undefined;
    });
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
    if (this.lanes > 0 || this.waiting.length > 0)
      await new Promise<void>((resolve) => this.idle.push(resolve));
    this.connections.close();
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
    if (this.scheduled || !this.mayOpenLane()) return;
    this.scheduled = true;
    untraced(() =>
      setImmediate(() => {
        this.scheduled = false;
        void this.runLane();
      }),
    );
  }

  private mayOpenLane(): boolean {
    return this.lanes === 0 || (this.lanes < LANES && this.waiting.length >= SECOND_LANE_FROM);
  }

  /** Runs batch after batch until there is nothing left that it may take. */
  private async runLane(): Promise<void> {
    if (!this.mayOpenLane()) return;
    this.lanes += 1;
    for (let batch = this.takeBatch(); batch.length > 0; batch = this.takeBatch()) {
      await this.runOrBisect(batch);
      for (const { entry } of batch) this.inFlight.delete(entry.command.chargeId);
      // Leave the rest to the other lane, which takes it as soon as its own batch is answered.
      if (this.lanes > 1 && this.waiting.length < SECOND_LANE_FROM) break;
    }
    this.lanes -= 1;
    if (this.lanes === 0) for (const resolve of this.idle.splice(0)) resolve();
  }

  /** One command per charge id at a time. Another one for the same charge waits until the first is answered. */
  private takeBatch(): Waiting[] {
    const batch: Waiting[] = [];
    const deferred: Waiting[] = [];
    const passed = new Set<string>();
    let next = 0;
    for (; next < this.waiting.length && batch.length < this.maxBatch; next += 1) {
      const item = this.waiting[next] as Waiting;
      const { chargeId } = item.entry.command;
      if (this.inFlight.has(chargeId) || passed.has(chargeId)) {
        deferred.push(item);
        passed.add(chargeId);
        continue;
      }
      batch.push(item);
      this.inFlight.add(chargeId);
    }
    this.waiting = [...deferred, ...this.waiting.slice(next)];
    return batch;
  }

  /** One invalid posting must not harm others: an unexpected error halves the batch until it is alone. */
  private async runOrBisect(batch: Waiting[]): Promise<void> {
    let results: Result[];
    try {
      results = await this.runRepeatedly(batch.map((item) => item.entry));
    } catch (error) {
      if (isTransient(error) || batch.length === 1) {
        for (const item of batch) item.reject(error);
        return;
      }
      this.options.log.error({ err: error, size: batch.length }, 'a batch failed and is split in half');
      const middle = batch.length >> 1;
      await this.runOrBisect(batch.slice(0, middle));
      await this.runOrBisect(batch.slice(middle));
      return;
    }
    batch.forEach((item, index) => answer(item, results[index]));
  }

  private async runRepeatedly(commands: Command[]): Promise<Result[]> {
    for (let run = 1; ; run += 1) {
      try {
        return await this.run(commands, run === 1);
      } catch (error) {
        if (run >= MAX_RUNS || !isPassing(error)) throw error;
        this.metrics?.reruns.inc();
      }
    }
  }

  private async run(commands: Command[], isFirst: boolean): Promise<Result[]> {
    const client = await this.connections.take();
    let isGood = true;
    try {
      const context = (this.context ??= await this.openContext(client));
      return await this.runOn(client, { commands, isFirst, context });
    } catch (error) {
      isGood = isPassing(error) && (await isRolledBack(client));
      throw error;
    } finally {
      this.connections.putBack(client, isGood);
    }
  }

  /** Decides first from memory, if that is enough. If it was wrong, decides under locks. */
  private async runOn(client: pg.ClientBase, run: BatchRun): Promise<Result[]> {
    const { commands, isFirst, context } = run;
    const startedMs = performance.now();
    const taken = this.memory.take(commands, context);
    try {
      const proved = isFirst && taken.state ? await this.runKnown(client, commands, taken.state) : null;
      const { results } = proved ?? (await this.runLocked(client, run, taken));
      const elapsedMs = performance.now() - startedMs;
      this.metrics?.observe({ commands, results, isProved: proved !== null, elapsedMs });
      return results;
    } finally {
      this.memory.end(commands);
    }
  }

  /** In one round trip, if the plan can be proved. @returns null if it must be made under locks */
  private async runKnown(
    client: pg.ClientBase,
    commands: Command[],
    state: BatchState,
  ): Promise<BatchPlan | null> {
    const plan = planBatch(state, commands);
    if (!isProvable(plan, commands)) return null;
    const order = { plan, at: null, proof: proofOf(state, commands) };
    await this.write(client, state, order);
    return plan;
  }

  private async runLocked(
    client: pg.ClientBase,
    { commands, context }: BatchRun,
    { accounts }: Taken,
  ): Promise<BatchPlan> {
    const state = await lockAndRead(client, commands, context);
    addKnown(state, accounts);
    const plan = planBatch(state, commands);
    await this.write(client, state, { plan, at: state, proof: null });
    return plan;
  }

  private async write(
    client: pg.ClientBase,
    state: BatchState,
    order: Omit<WriteOrder, 'settlements'>,
  ): Promise<void> {
    const { publishesSettlements: settlements = false } = this.options;
    const written = await writeAndCommit(client, { ...order, settlements });
    if (written) this.memory.keep(state, order.plan, written);
    if (written?.announces) this.options.onCommitted?.();
  }

  private async openContext(client: pg.ClientBase): Promise<BatchContext> {
    const { rows } = await client.query<{ code: string; id: string }>(
      `SELECT code, id::text FROM ledger_accounts WHERE code LIKE 'usage:%'`,
    );
    const ids = Object.fromEntries(rows.map((row) => [row.code.slice('usage:'.length), BigInt(row.id)]));
    return {
      priceBook: undefined,
      usageLedgerIds: ids as Record<Family, bigint>,
      loadPriceBook: this.options.loadPriceBook,
    };
  }
}

async function isRolledBack(client: pg.ClientBase): Promise<boolean> {
  return client.query('ROLLBACK').then(
    () => true,
    () => false,
  );
}

function answer(item: Waiting, result: Result | undefined): void {
  if (result === undefined || result instanceof BrokenRule)
    item.reject(result ?? new Error('a batch lost a result'));
  else item.resolve(result);
}
