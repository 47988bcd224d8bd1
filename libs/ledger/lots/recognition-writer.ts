import type pg from 'pg';
import { inTransaction, isTransient } from '#database/database.js';
import { crashPoint } from '#platform/crash-points.js';
import { lockGoingCursors } from './lot-cursors.js';
import { LotPlayer, LotsBroken } from './lot-player.js';
import { type AccountPlay, writePlays } from './lot-writer.js';

/** The effect of a ledger chunk on the lots of an account, calculated without a lock. */
export interface WorkedOut {
  readonly accountId: string;
  /** Where playing began. Null means from the beginning. */
  readonly cursor: bigint | null;
  /** Or why it cannot be played. */
  readonly outcome: LotPlayer | Error;
}

type Played = WorkedOut & { readonly outcome: LotPlayer };

/** A refund or a dispute waits for a transaction that holds its account's cursor, so such a transaction is short. */
const AIMED_MS = 30;
const FIRST_ROWS = 300;
const FEWEST_ROWS = 50;
const MOST_ROWS = 2_000;
/** If more accounts fail at once, something else must be wrong. */
const FAILED_AT_MOST = 20;

/**
 * Stores what was worked out, in transactions of so few accounts that each takes some 30 ms. A cursor that someone else
 * holds is left for last, and then waited for with nothing else in hand. What fails by itself is noted as stuck.
 * @returns how many accounts were brought to `throughId` by it; the others were there, or are stuck
 * @throws what keeps everything from being written; some of it may be written by then
 */
export function writeWorkedOut(
  pool: pg.Pool,
  accounts: readonly WorkedOut[],
  throughId: bigint,
): Promise<number> {
  return new Writer(pool, throughId).write(accounts);
}

class Writer {
  private rows = FIRST_ROWS;
  private written = 0;
  private readonly busy: Played[] = [];
  private readonly failed: { account: WorkedOut; error: Error }[] = [];

  constructor(
    private readonly pool: pg.Pool,
    private readonly throughId: bigint,
  ) {}

  async write(accounts: readonly WorkedOut[]): Promise<number> {
    const sorted = accounts.toSorted((a, b) => (a.accountId < b.accountId ? -1 : 1));
    await this.openCursors(sorted);
    const played = sorted.filter(isPlayed);
    for (let from = 0; from < played.length;) {
      const slice = this.nextSlice(played, from);
      from += slice.length;
      const startedMs = performance.now();
      await this.writeOrHalve(slice, 'SKIP LOCKED');
      this.adapt(performance.now() - startedMs);
    }
    for (const account of this.busy.splice(0)) await this.writeOrHalve([account], '');
    for (const account of sorted)
      if (account.outcome instanceof Error) this.failed.push({ account, error: account.outcome });
    await this.noteFailed();
    return this.written;
  }

  /** Before the slices, so that nobody waits for a new cursor while holding others. */
  private async openCursors(accounts: readonly WorkedOut[]): Promise<void> {
    const fresh = accounts.filter(({ cursor }) => cursor === null).map(({ accountId }) => accountId);
    if (fresh.length === 0) return;
    await this.pool.query(
      `INSERT INTO lot_cursors (account_id, through_id)
       SELECT account_id, 0 FROM unnest($1::text[]) WITH ORDINALITY AS a (account_id, place) ORDER BY place
       ON CONFLICT DO NOTHING`,
      [fresh],
    );
  }

  private nextSlice(played: readonly Played[], from: number): Played[] {
    let [to, rows] = [from, 0];
    while (to < played.length && (to === from || rows + sizeOf(played[to] as Played) <= this.rows)) {
      rows += sizeOf(played[to] as Played);
      to += 1;
    }
    return played.slice(from, to);
  }

  private adapt(ms: number): void {
    const factor = Math.min(1.5, Math.max(0.5, AIMED_MS / ms));
    this.rows = Math.min(MOST_ROWS, Math.max(FEWEST_ROWS, Math.round(this.rows * factor)));
  }

  private async writeOrHalve(slice: readonly Played[], ofOthers: CursorsOfOthers): Promise<void> {
    try {
      const { written, busy } = await inTransaction(this.pool, (client) =>
        this.writeSlice(client, slice, ofOthers),
      );
      this.written += written;
      this.busy.push(...busy);
    } catch (error) {
      if (isTransient(error) || this.failed.length >= FAILED_AT_MOST) throw error;
      if (slice.length === 1) {
        this.failed.push({ account: slice[0] as Played, error: error as Error });
        return;
      }
      const middle = slice.length >> 1;
      await this.writeOrHalve(slice.slice(0, middle), ofOthers);
      await this.writeOrHalve(slice.slice(middle), ofOthers);
    }
  }

  /** Those that nobody brought further, or left as stuck, since they were read. */
  private async writeSlice(
    client: pg.ClientBase,
    slice: readonly Played[],
    ofOthers: CursorsOfOthers,
  ): Promise<{ written: number; busy: Played[] }> {
    const cursors = await lockGoingCursors(
      client,
      slice.map(({ accountId }) => accountId),
      ofOthers,
    );
    const plays: AccountPlay[] = slice
      .filter(({ accountId, cursor }) => cursors.get(accountId) === (cursor ?? 0n))
      .map(({ accountId, outcome: player }) => ({ accountId, player, throughId: this.throughId }));
    const [first] = plays;
    // An account is written once up to an ID, so nobody else uses this reference.
    if (first) await writePlays(client, plays, `recognition:${this.throughId}:${first.accountId}`);
    crashPoint('recognition.before-commit');
    return { written: plays.length, busy: slice.filter(({ accountId }) => !cursors.has(accountId)) };
  }

  private async noteFailed(): Promise<void> {
    const surprising = this.failed.filter(({ error }) => !(error instanceof LotsBroken));
    const [first] = surprising;
    if (first && surprising.length > FAILED_AT_MOST) throw first.error;
    for (const { account, error } of this.failed)
      await this.pool.query('UPDATE lot_cursors SET stuck = $3 WHERE account_id = $1 AND through_id = $2', [
        account.accountId,
        account.cursor ?? 0n,
        error.message,
      ]);
  }
}

/** The cursors that others hold are left, or waited for. */
type CursorsOfOthers = 'SKIP LOCKED' | '';

function isPlayed(account: WorkedOut): account is Played {
  return account.outcome instanceof LotPlayer;
}

function sizeOf({ outcome }: Played): number {
  return outcome.uses.length + outcome.touched.size + 1;
}
