import type pg from 'pg';
import { inTransaction } from '#database/database.js';
import { limitStatements } from '#database/pooled-client.js';
import { atHorizon, markHorizon, openReport } from '#ledger/postings/horizon.js';
import { readTrialBalance, type TrialBalance } from '#ledger/reports/trial-balance.js';
import { NamedError } from '#platform/errors.js';
import { hashBalances } from './balances-hash.js';
import { burnId } from './catch-up.js';
import { inEnglish, type Note, note } from './checklist-note.js';
import type { ChecklistItem, UsedWaiver } from './period.js';
import { runChecklist } from './period-checklist.js';
import { waiversOf } from './waiver.js';

export interface CloseRequest {
  /** The first instant after the period, to the millisecond. */
  readonly end: Date;
  readonly note: string | null;
  /** `user:{id}` or `cli`. */
  readonly actor: string;
  /** A repeat returns the same answer. */
  readonly requestId: string;
}

export interface CloseOptions {
  /** How long ago the end must be: longer than a posting can take between its time and its commit. */
  readonly marginMs: number;
  /** How long to wait for transactions from before the close. */
  readonly waitMs: number;
  /** The time limit for each question of the checklist. */
  readonly limitMs: number;
  /** Brings everything that lags behind the postings past the end, while something can still be posted there. */
  readonly catchUp?: (() => Promise<void>) | undefined;
  /** Called once the close has its row, and before each of its steps. */
  readonly onProgress?: ((words: string, periodId: bigint | null) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export class CloseAbandoned extends NamedError {
  constructor(
    readonly note: Note,
    readonly checklist: readonly ChecklistItem[] | null = null,
  ) {
    super(inEnglish(note));
  }
}

export interface BegunClose {
  periodId: bigint;
  attempt: number;
  graceMs: number;
}

interface CloseParts extends BegunClose {
  request: CloseRequest;
  options: CloseOptions;
}

/** A close whose row is committed. */
export class CloseAttempt {
  constructor(
    private readonly pool: pg.Pool,
    private readonly parts: CloseParts,
  ) {}

  get periodId(): bigint {
    return this.parts.periodId;
  }

  /**
   * Ends the close as closed or abandoned. @throws any unexpected error, such as a lost database connection; the close is then tried
   * again
   */
  async run(): Promise<void> {
    const { options } = this.parts;
    try {
      await this.tell(note('waiting'));
      await this.sealIds();
      await this.passMark();
      await this.checkAndStore();
    } catch (error) {
      if (error instanceof CloseAbandoned) return abandon(this.pool, this.parts, error);
      const reason = options.signal?.aborted
        ? note('stopped')
        : note('failed', { error: (error as Error).message });
      // If the database is unreachable, the row stays as it is and the next attempt finds it.
      await abandon(this.pool, this.parts, new CloseAbandoned(reason)).catch(() => undefined);
      if (!options.signal?.aborted) throw error;
    }
  }

  /** Once the mark is passed, every transaction from before it has ended. */
  private async passMark(): Promise<void> {
    const { signal, waitMs } = this.parts.options;
    signal?.throwIfAborted();
    if (await markHorizon(this.pool, waitMs, signal)) return;
    signal?.throwIfAborted();
    throw new CloseAbandoned(await oldestRunning(this.pool));
  }

  /** Takes an ID first, so that every ID taken so far is below the stored one. */
  private async sealIds(): Promise<void> {
    const { periodId, attempt } = this.parts;
    await burnId(this.pool);
    await this.passMark();
    const lastId = await atHorizon(this.pool, (_, { lastLedgerId }) => Promise.resolve(lastLedgerId));
    await this.pool.query(
      `UPDATE ledger_periods SET last_ledger_id = greatest($3, last_ledger_id) WHERE id = $1 AND attempt = $2`,
      [periodId, attempt, lastId],
    );
  }

  private async checkAndStore(): Promise<void> {
    const { request, options, graceMs } = this.parts;
    const { end } = request;
    const { limitMs, signal } = options;
    const { client, horizon, close } = await openReport(this.pool);
    try {
      const onProgress = (step: Note) => this.tell(step);
      const asked = { end, graceMs, limitMs, signal, onProgress };
      const checklist = await runChecklist({ client, horizon }, asked);
      const red = checklist.filter(({ state }) => state === 'failed');
      if (red.length > 0) {
        const items = red.map(({ id }) => id).join(', ');
        throw new CloseAbandoned(note('not_in_order', { items }), checklist);
      }
      await this.tell(note('storing'));
      await limitStatements(client, limitMs);
      const query = { by: 'effective', at: end } as const;
      const used = await this.usedWaivers(client, checklist);
      await this.store({ checklist, used }, await readTrialBalance(client, horizon, query));
    } finally {
      await close();
    }
  }

  private async usedWaivers(
    client: pg.ClientBase,
    checklist: readonly ChecklistItem[],
  ): Promise<readonly UsedWaiver[]> {
    const ids = new Set(checklist.map(({ waiverId }) => waiverId));
    const waivers = await waiversOf(client, this.parts.request.end);
    return waivers
      .filter(({ id }) => ids.has(id))
      .map(({ item, reason, count, requestedBy, approvedBy }) => {
        return { item, reason, count, requestedBy, approvedBy };
      });
  }

  private store(
    { checklist, used }: { checklist: readonly ChecklistItem[]; used: readonly UsedWaiver[] },
    report: TrialBalance,
  ): Promise<void> {
    const { periodId, attempt } = this.parts;
    // Whether an account back at 0 is listed depends on snapshots. The hash must not.
    const balances = report.balances.filter(({ balance }) => balance !== 0n);
    return inTransaction(this.pool, async (client) => {
      await lockClosing(client, periodId, attempt);
      await insertBalances(client, periodId, balances);
      await client.query(
        `UPDATE ledger_periods SET state = 'closed', progress = NULL, closing_recorded_before = $2::timestamptz,
           checklist = $3, balances_hash = $4, waivers = $5, ended_at = clock_timestamp() WHERE id = $1`,
        [
          periodId,
          report.recordedBefore,
          JSON.stringify(checklist),
          hashBalances(balances),
          JSON.stringify(used),
        ],
      );
    });
  }

  private async tell(step: Note): Promise<void> {
    const { periodId, attempt, options } = this.parts;
    options.onProgress?.(inEnglish(step), periodId);
    await this.pool.query(
      `UPDATE ledger_periods SET progress = $3 WHERE id = $1 AND attempt = $2 AND state = 'closing'`,
      [periodId, attempt, JSON.stringify(step)],
    );
  }
}

/** Every role can see who holds a transaction ID, but only some can see since when its session runs. */
async function oldestRunning(pool: pg.Pool): Promise<Note> {
  const { rows } = await pool.query<{ pid: number | null; program: string | null; ageS: number | null }>(
    `SELECT l.pid, a.application_name AS program, extract(epoch FROM clock_timestamp() - a.xact_start)::int AS "ageS"
     FROM pg_locks l LEFT JOIN pg_stat_activity a ON a.pid = l.pid
     WHERE l.locktype = 'transactionid' AND l.granted AND l.mode = 'ExclusiveLock' AND l.pid <> pg_backend_pid()
     ORDER BY age(l.transactionid) DESC LIMIT 1`,
  );
  const { pid, program, ageS } = rows[0] ?? {};
  if (pid === undefined) return note('transaction_ended_late');
  return note('transaction_running', { process: pid, program: program ?? '', seconds: ageS ?? null });
}

export async function abandon(
  client: pg.Pool | pg.ClientBase,
  { periodId, attempt }: Pick<BegunClose, 'periodId' | 'attempt'>,
  { message, note: reason, checklist }: CloseAbandoned,
): Promise<void> {
  await client.query(
    `UPDATE ledger_periods SET state = 'abandoned', abandoned_reason = $2, abandoned_note = $5, checklist = $3, progress = NULL,
       ended_at = clock_timestamp() WHERE id = $1 AND attempt = $4 AND state = 'closing'`,
    [periodId, message, checklist && JSON.stringify(checklist), attempt, reason],
  );
}

async function insertBalances(
  client: pg.ClientBase,
  periodId: bigint,
  balances: TrialBalance['balances'],
): Promise<void> {
  await client.query(
    `INSERT INTO ledger_period_balances (period_id, ledger_account_id, balance)
     SELECT $1, * FROM unnest($2::bigint[], $3::numeric[])`,
    [
      periodId,
      balances.map(({ ledgerAccountId }) => ledgerAccountId),
      balances.map(({ balance }) => balance),
    ],
  );
}

async function lockClosing(client: pg.ClientBase, periodId: bigint, attempt: number): Promise<void> {
  const { rowCount } = await client.query(
    `SELECT FROM ledger_periods WHERE id = $1 AND attempt = $2 AND state = 'closing' FOR UPDATE`,
    [periodId, attempt],
  );
  if (rowCount === 0) throw new Error('another program has taken the close over');
}
