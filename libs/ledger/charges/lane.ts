import type pg from 'pg';
import { isTransient } from '#database/database.js';
import type { Logger } from '#platform/logging.js';
import type { Family, PriceBook } from '#pricing/price-book.js';
import type { Answer, BatchPlan, BatchState, Command, Result } from './batch.js';
import {
  addKnown,
  type BatchMemory,
  type BatchVersion,
  isProvable,
  proofOf,
  type Taken,
} from './batch-memory.js';
import { planBatch } from './batch-plan.js';
import { type BatchContext, lockAndRead } from './batch-reader.js';
import { type PlanBasis, type HoldProof, isPassing, writeAndCommit, type Written } from './batch-writer.js';
import { EngineConnection } from './engine-connection.js';
import type { EngineMetrics } from './engine-metrics.js';

/** Attempts per batch before its error counts: deadlocks and conflicts are temporary, and each attempt is cheap. */
const MAX_RUNS = 8;

/** What the lanes of an engine share. */
export interface LaneOptions {
  readonly pool: pg.Pool;
  readonly loadPriceBook: (client: pg.ClientBase) => Promise<PriceBook>;
  readonly log: Logger;
  readonly memory: BatchMemory;
  readonly metrics: EngineMetrics | undefined;
  readonly onCommitted: (() => void) | undefined;
  readonly publishesSettlements: boolean;
}

interface Decision {
  readonly state: BatchState;
  readonly plan: BatchPlan;
  readonly proof: HoldProof | null;
}

const NOTHING: Taken = { state: null, accounts: new Map() };

/**
 * Writes batches over one connection, in order. A batch that can be decided from memory is sent at once, even while the
 * one before it has no answer yet. Any other batch waits until nothing is on its way, and is decided under locks.
 */
export class Lane {
  /** Batches on their way that were decided from memory. */
  sent = 0;
  /** Batches that are decided under locks, or wait for it. */
  locking = 0;
  /** The batch that was sent last, until it is answered. */
  private last: BatchVersion | null = null;
  private readonly connection: EngineConnection;
  /** Resolves when everything that was sent or queued before has ended. */
  private ended: Promise<unknown> = Promise.resolve();

  constructor(private readonly options: LaneOptions) {
    // Another server may have taken over, where versions and revisions may have another meaning.
    this.connection = new EngineConnection(options.pool, () => options.memory.forget());
  }

  /** Decides and writes a batch: at most one command per charge, and none of a charge in another batch. Does not reject. */
  async run(commands: readonly Command[]): Promise<Answer[]> {
    const startedMs = performance.now();
    const { client } = this.connection;
    const taken = client ? this.options.memory.take(commands, this.last) : NOTHING;
    const decision = decideFromMemory(commands, taken);
    if (client && decision) {
      const error = await this.send(client, decision);
      if (error === null) return this.counted(decision.plan.results, { commands, isProved: true, startedMs });
      if (isTransient(error) && !isPassing(error)) return commands.map(() => error);
      this.options.metrics?.reruns.inc();
    }
    const answers = await this.queue(() => this.runOrBisect(commands, taken));
    return this.counted(answers, { commands, isProved: false, startedMs });
  }

  close(): void {
    const { client } = this.connection;
    if (client) this.connection.close(client);
  }

  /** @returns the error if the batch was not written, else null */
  private async send(client: pg.PoolClient, { state, plan, proof }: Decision): Promise<Error | null> {
    const { memory } = this.options;
    const version = memory.newVersion();
    const follows = [...state.balances.values()].some((balance) => balance.version === null);
    const basis = { number: version.number, follows: follows ? this.last!.number : null, proof };
    const outcome = this.write(client, plan, basis).then(
      (written) => {
        if (written) memory.commit(plan, version, written);
        return null;
      },
      (error: unknown) => error as Error,
    );
    memory.keepAccounts(state, plan, version);
    this.last = version;
    this.sent += 1;
    const before = this.ended;
    this.ended = outcome.then(() => before);
    const error = await outcome;
    this.sent -= 1;
    if (this.last === version) this.last = null;
    if (isTransient(error) && !isPassing(error)) this.connection.close(client);
    return error;
  }

  private async queue<T>(work: () => Promise<T>): Promise<T> {
    this.locking += 1;
    const done = this.ended.then(work);
    this.ended = done;
    return done.finally(() => (this.locking -= 1));
  }

  /** One invalid posting must not harm others: an unexpected error halves the batch until it is alone. */
  private async runOrBisect(commands: readonly Command[], taken: Taken): Promise<Answer[]> {
    try {
      return await this.runRepeatedly(commands, taken);
    } catch (error) {
      if (isTransient(error) || commands.length === 1) return commands.map(() => error as Error);
      this.options.log.error({ err: error, size: commands.length }, 'a batch failed and is split in half');
      const middle = commands.length >> 1;
      const first = await this.runOrBisect(commands.slice(0, middle), taken);
      return [...first, ...(await this.runOrBisect(commands.slice(middle), taken))];
    }
  }

  private async runRepeatedly(commands: readonly Command[], taken: Taken): Promise<Result[]> {
    for (let run = 1; ; run += 1) {
      try {
        return await this.runLocked(commands, taken);
      } catch (error) {
        if (run >= MAX_RUNS || !isPassing(error)) throw error;
        this.options.metrics?.reruns.inc();
      }
    }
  }

  private async runLocked(commands: readonly Command[], taken: Taken): Promise<Result[]> {
    const client = await this.connection.open();
    try {
      const { memory } = this.options;
      const context = (memory.context ??= await this.openContext(client));
      return await this.decideUnderLocks(client, commands, { context, taken });
    } catch (error) {
      if (!isPassing(error) || !(await isRolledBack(client))) this.connection.close(client);
      throw error;
    }
  }

  private async decideUnderLocks(
    client: pg.ClientBase,
    commands: readonly Command[],
    { context, taken }: { context: BatchContext; taken: Taken },
  ): Promise<Result[]> {
    const { memory } = this.options;
    const state = await lockAndRead(client, commands, context);
    addKnown(state, taken.accounts);
    const plan = planBatch(state, commands);
    const written = await this.write(client, plan, { at: state });
    if (written) {
      const version = memory.newVersion();
      memory.keepAccounts(state, plan, version);
      memory.commit(plan, version, written);
    }
    return plan.results;
  }

  private async write(client: pg.ClientBase, plan: BatchPlan, basis: PlanBasis): Promise<Written | null> {
    const { publishesSettlements: settlements, onCommitted } = this.options;
    const written = await writeAndCommit(client, { plan, basis, settlements });
    if (written?.announces) onCommitted?.();
    return written;
  }

  private counted(
    answers: Answer[],
    of: { commands: readonly Command[]; isProved: boolean; startedMs: number },
  ): Answer[] {
    const elapsedMs = performance.now() - of.startedMs;
    this.options.metrics?.observe({ commands: of.commands, answers, isProved: of.isProved, elapsedMs });
    return answers;
  }

  private async openContext(client: pg.ClientBase): Promise<BatchContext> {
    const { rows } = await client.query<{ code: string; id: bigint }>(
      `SELECT code, id FROM ledger_accounts WHERE code LIKE 'usage:%'`,
    );
    const ids = Object.fromEntries(rows.map((row) => [row.code.slice('usage:'.length), row.id]));
    return {
      priceBook: undefined,
      usageLedgerIds: ids as Record<Family, bigint>,
      loadPriceBook: this.options.loadPriceBook,
    };
  }
}

/** @returns null if the memory is not enough, if the plan cannot be proved, or if a command is invalid */
function decideFromMemory(commands: readonly Command[], { state }: Taken): Decision | null {
  if (!state) return null;
  try {
    const plan = planBatch(state, commands);
    return isProvable(plan, commands) ? { state, plan, proof: proofOf(state, commands) } : null;
  } catch {
    // Under locks, the batch is halved until the invalid command is alone.
    return null;
  }
}

async function isRolledBack(client: pg.ClientBase): Promise<boolean> {
  return client.query('ROLLBACK').then(
    () => true,
    () => false,
  );
}
