import type pg from 'pg';
import { copyOut } from '#database/copy-out.js';
import { isoInstant } from '#platform/times.js';
import type { Horizon } from '../postings/horizon.js';
import { balanceBefore, effectiveBalanceBefore } from '../postings/account-balance.js';
import { streamBalances } from '../reports/trial-balance.js';
import { AccountBook, type BookAccount, HeldBalances } from './account-book.js';
import { fetched } from '../postings/cursor.js';
import type { Books } from './books.js';
import { type EntryCells, isBefore, textLines, transactionOf } from './copied-rows.js';
import type { JournalAccount, JournalBalance, JournalTransaction, AmountUnit } from './journal.js';
import { idsOfDay, onDay, openingOf, type Range } from './range.js';

/** The number of transactions read at a time. Calls in the same process wait while their text is written. */
const CHUNK = 500;

/** Every transaction of a time, or those of one ledger account, each in full. */
export class FullBooks implements Books {
  private readonly book: AccountBook;
  private readonly held = new HeldBalances();
  private readonly only: number | null;

  constructor(
    private readonly client: pg.ClientBase,
    private readonly query: { ledgerAccountId: bigint | null; from: Date | null; currency: string },
  ) {
    this.book = new AccountBook(client, query.currency);
    this.only = query.ledgerAccountId === null ? null : Number(query.ledgerAccountId);
  }

  async units(): Promise<AmountUnit[]> {
    // Customers' accounts are all in credits. The others are few.
    const { rows } = await this.client.query<Omit<BookAccount, 'id'>>(
      `SELECT code, kind, commodity FROM ledger_accounts WHERE account_id IS NULL ORDER BY id`,
    );
    return rows.map((row) => this.book.journalAccount(row).unit);
  }

  async *accounts(range: Range | null): AsyncGenerator<JournalAccount[]> {
    const whose =
      this.only === null
        ? ''
        : `WHERE a.id = $1 OR a.id IN (SELECT other.ledger_account_id FROM ledger_entries own
             JOIN ledger_transactions t ON t.id = own.transaction_id
             JOIN ledger_entries other ON other.transaction_id = own.transaction_id
             WHERE own.ledger_account_id = $1 AND t.${range?.by ?? 'recorded'}_at >= $2::timestamptz
               AND t.${range?.by ?? 'recorded'}_at < $3::timestamptz AND t.recorded_at < $4::timestamptz)`;
    const { from = 'infinity', to = 'infinity', recordedBefore = 'infinity' } = range ?? {};
    const values = this.only === null ? [] : [this.only, from, to, recordedBefore];
    const sql = `SELECT a.id::text, a.code, a.kind, a.commodity FROM ledger_accounts a ${whose} ORDER BY a.id`;
    for await (const rows of fetched<BookAccount>(this.client, sql, values))
      yield rows.map((row) => this.book.journalAccount(row));
  }

  /**
   * The opening balances. If only one account is exported, its balance is posted against a special account, because the others are
   * exported only in part and start at zero.
   */
  async *opening(horizon: Horizon, range: Range): AsyncGenerator<JournalBalance[]> {
    const { from } = this.query;
    if (from === null) return;
    if (this.only !== null) {
      const balance = await this.balanceOf(BigInt(this.only), range, from.toISOString());
      if (balance === 0n) return;
      await this.book.meet([this.only]);
      this.held.add(this.only, balance);
      const account = this.book.of(this.only);
      yield [
        { account, balance },
        { account: { ...account, ...OPENING }, balance: -balance },
      ];
      return;
    }
    for await (const balances of streamBalances(this.client, horizon, openingOf(range, from))) {
      const moved = balances.filter(({ balance }) => balance !== 0n);
      for (const { ledgerAccountId, balance } of moved) this.held.add(Number(ledgerAccountId), balance);
      yield moved.map((row) => ({ account: this.book.journalAccount(row), balance: row.balance }));
    }
  }

  private balanceOf(id: bigint, { by, recordedBefore }: Range, before: string): Promise<bigint> {
    if (by === 'recorded') return balanceBefore(this.client, id, before);
    return effectiveBalanceBefore(this.client, id, { effectiveBefore: before, recordedBefore });
  }

  /** The account against which the opening balance of a single account is posted. */
  async extraAccount(): Promise<JournalAccount | null> {
    const { from } = this.query;
    if (from === null || this.only === null) return null;
    await this.book.meet([this.only]);
    return { ...this.book.of(this.only), ...OPENING };
  }

  async *transactions(range: Range, day: string): AsyncGenerator<JournalTransaction[]> {
    if (range.by === 'effective') yield* this.effectiveOn(range, day);
    else yield* this.recordedOn(range, day);
  }

  /** In the order of events, which differs from the order of IDs if facts came late. */
  private async *effectiveOn(range: Range, day: string): AsyncGenerator<JournalTransaction[]> {
    const whose =
      this.only === null
        ? ''
        : `AND EXISTS (SELECT FROM ledger_entries own WHERE own.transaction_id = t.id AND own.ledger_account_id = ${this.only})`;
    const sql = `SELECT t.id::text, t.recorded_at::text AS "recordedAt", t.effective_at::text AS "effectiveAt", t.kind, t.reference,
         t.charge_id AS "chargeId"
       FROM ledger_transactions t WHERE ${onDay(range.by, { from: '$1', to: '$2', recordedBefore: '$3', day: '$4' })} ${whose}
       ORDER BY t.effective_at, t.id`;
    const values = [range.from, range.to, range.recordedBefore, day];
    for await (const heads of fetched<HeadRow>(this.client, sql, values)) {
      for (let first = 0; first < heads.length; first += CHUNK)
        yield this.withEntries(day, heads.slice(first, first + CHUNK));
    }
  }

  private async withEntries(day: string, heads: readonly HeadRow[]): Promise<JournalTransaction[]> {
    const transactions = heads.map(
      ({ recordedAt, effectiveAt, ...head }): JournalTransaction & { id: string } => ({
        day,
        ...head,
        recordedAt: isoInstant(recordedAt),
        effectiveAt: isoInstant(effectiveAt),
        entries: [],
      }),
    );
    const byId = new Map(transactions.map((transaction) => [transaction.id, transaction]));
    const entries = await this.entriesWhere(`transaction_id = ANY('{${[...byId.keys()].join()}}'::bigint[])`);
    for (const [id, accountText, amount] of entries)
      this.enter(byId.get(id) as JournalTransaction, Number(accountText), BigInt(amount));
    return transactions;
  }

  private enter(transaction: JournalTransaction, account: number, amount: bigint): void {
    this.held.add(account, amount);
    this.held.touch(account);
    transaction.entries.push({ account: this.book.of(account), amount });
  }

  private async entriesWhere(which: string): Promise<EntryCells[]> {
    const entries = textLines(
      await copyOut(
        this.client,
        `SELECT transaction_id, ledger_account_id, amount FROM ledger_entries WHERE ${which} ORDER BY transaction_id, ordinal`,
      ),
    ).map((line) => line.split('\t') as EntryCells);
    await this.book.meet(new Set(entries.map(([, account]) => Number(account))));
    return entries;
  }

  private async *recordedOn(range: Range, day: string): AsyncGenerator<JournalTransaction[]> {
    const bounds = await idsOfDay(this.client, range, day);
    if (bounds === null) return;
    const recorded = { range, day, through: bounds.last };
    let next = this.chunk(recorded, bounds.first - 1n);
    for (;;) {
      const chunk = await next;
      const { lastId } = chunk;
      // It is fetched while these are written. If nobody reads on, its failure does not matter.
      if (lastId !== null) (next = this.chunk(recorded, lastId)).catch(() => undefined);
      const transactions = this.transactionsOf(day, chunk);
      if (lastId === null) {
        yield transactions;
        return;
      }
      yield transactions;
    }
  }

  async *closing(): AsyncGenerator<JournalBalance[]> {
    let some: number[] = [];
    for (const id of this.held.takeTouched()) {
      if (this.only !== null && id !== this.only) continue;
      some.push(id);
      if (some.length === CHUNK) {
        yield await this.balancesOf(some);
        some = [];
      }
    }
    if (some.length > 0) yield await this.balancesOf(some);
  }

  private async balancesOf(ids: number[]): Promise<JournalBalance[]> {
    await this.book.meet(ids);
    return ids.map((id) => ({ account: this.book.of(id), balance: this.held.get(id) }));
  }

  private async chunk({ range, day, through }: RecordedDay, after: bigint): Promise<Chunk> {
    const whose =
      this.only === null
        ? ''
        : `AND t.id IN (SELECT own.transaction_id FROM ledger_entries own WHERE own.ledger_account_id = ${this.only}
             AND own.transaction_id > ${after} AND own.transaction_id <= ${through})`;
    const [from, to] = [`'${range.from}'`, `'${range.to}'`];
    const recorded = onDay(range.by, { from, to, recordedBefore: to, day: `'${day}'` });
    const transactions = await copyOut(
      this.client,
      `SELECT t.id, t.recorded_at, t.effective_at, t.kind, t.reference, t.charge_id FROM ledger_transactions t
       WHERE t.id > ${after} AND t.id <= ${through} AND ${recorded} ${whose}
       ORDER BY t.id LIMIT ${CHUNK}`,
    );
    const heads = textLines(transactions);
    const ids = heads.map((line) => line.slice(0, line.indexOf('\t')));
    const [first, last] = [ids[0], ids.at(-1)];
    if (first === undefined || last === undefined) return { heads, entries: [], lastId: null };
    const which =
      this.only === null
        ? `transaction_id >= ${first} AND transaction_id <= ${last}`
        : `transaction_id = ANY('{${ids.join()}}'::bigint[])`;
    const entries = await this.entriesWhere(which);
    return { heads, entries, lastId: ids.length === CHUNK ? BigInt(last) : null };
  }

  /** Both are ordered by ID. Entries recorded on another day are skipped. */
  private transactionsOf(day: string, { heads, entries }: Chunk): JournalTransaction[] {
    let next = 0;
    return heads.map((line) => {
      const transaction = transactionOf(day, line);
      const { id } = transaction;
      while (next < entries.length && (entries[next] as EntryCells)[0] !== id && isBefore(entries[next], id))
        next += 1;
      for (; entries[next]?.[0] === id; next += 1) {
        const [, accountText, amountText] = entries[next] as EntryCells;
        this.enter(transaction, Number(accountText), BigInt(amountText));
      }
      return transaction;
    });
  }
}

const OPENING = { code: 'opening-balances', kind: 'contra' as const };

interface HeadRow {
  id: string;
  recordedAt: string;
  effectiveAt: string;
  kind: string;
  reference: string;
  chargeId: string | null;
}

/** What was recorded on a day, up to an id. */
interface RecordedDay {
  range: Range;
  day: string;
  through: bigint;
}

interface Chunk {
  heads: string[];
  entries: EntryCells[];
  /** Where the rest begins. Null if there is none. */
  lastId: bigint | null;
}
