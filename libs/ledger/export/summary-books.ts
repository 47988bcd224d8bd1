import type pg from 'pg';
import type { Horizon } from '../postings/horizon.js';
import { fetched } from '../postings/cursor.js';
import { streamBalances } from '../reports/trial-balance.js';
import type { BookAccount } from './account-book.js';
import type { Books } from './books.js';
import {
  type JournalAccount,
  type JournalBalance,
  type JournalTransaction,
  type AmountUnit,
  unitOf,
} from './journal.js';
import { idsOfDay, onDay, openingOf, type Range } from './range.js';

const DAY = { from: '$1', to: '$2', recordedBefore: '$3', day: '$4' };

/** Customers' accounts in a summary: one per purpose. */
const NAME = `CASE WHEN a.account_id IS NULL THEN a.code ELSE 'customers:' || split_part(a.code, ':', 3) END`;

/** What moved on a day, by ledger account. */
const EFFECTIVE = `SELECT e.ledger_account_id::text AS id, sum(e.amount)::text AS amount
  FROM ledger_transactions t JOIN ledger_entries e ON e.transaction_id = t.id WHERE ${onDay('effective', DAY)} GROUP BY e.ledger_account_id`;

/** Entries between two ids in their order, without the few of other days, so that no transaction is looked up by itself. */
const RECORDED = `WITH others AS MATERIALIZED (
    SELECT t.id FROM ledger_transactions t WHERE t.id BETWEEN $5 AND $6 AND NOT (${onDay('recorded', DAY)}))
  SELECT e.ledger_account_id::text AS id, sum(e.amount)::text AS amount FROM ledger_entries e
  WHERE e.transaction_id BETWEEN $5 AND $6 AND NOT EXISTS (SELECT FROM others o WHERE o.id = e.transaction_id)
  GROUP BY e.ledger_account_id`;

/** One transaction per day with all movements and customers' accounts combined, so there are few accounts. */
export class SummaryBooks implements Books {
  private readonly byName = new Map<string, JournalAccount>();
  private readonly found: JournalAccount[] = [];
  /** Where each ledger account's is among those found, counted from 1: four bytes per ledger account. */
  private places = new Uint32Array(1_024);
  private readonly held = new Map<JournalAccount, bigint>();
  private touched = new Set<JournalAccount>();

  constructor(
    private readonly client: pg.ClientBase,
    private readonly query: { from: Date | null; currency: string },
  ) {}

  /** Reads all ledger accounts once: a day moves thousands of them, among millions. */
  async units(): Promise<AmountUnit[]> {
    const places = new Map<string, number>();
    const sql = `SELECT a.id::text, ${NAME} AS code, kind, commodity FROM ledger_accounts a`;
    for await (const rows of fetched<BookAccount>(this.client, sql, []))
      for (const row of rows) {
        const { id, code, kind } = row;
        if (!places.has(code))
          places.set(code, this.found.push({ code, kind, unit: unitOf(row, this.query.currency) }));
        this.place(Number(id), places.get(code) as number);
      }
    const { rows } = await this.client.query<{ code: string }>(
      'SELECT code FROM unnest($1::text[]) AS code ORDER BY 1',
      [[...places.keys()]],
    );
    for (const { code } of rows)
      this.byName.set(code, this.found[(places.get(code) as number) - 1] as JournalAccount);
    return [...this.byName.values()].map(({ unit }) => unit);
  }

  private place(id: number, place: number): void {
    if (id >= this.places.length) {
      const places = new Uint32Array(Math.max(this.places.length * 2, id + 1));
      places.set(this.places);
      this.places = places;
    }
    this.places[id] = place;
  }

  async *accounts(): AsyncGenerator<JournalAccount[]> {
    yield await Promise.resolve([...this.byName.values()]);
  }

  extraAccount(): Promise<null> {
    return Promise.resolve(null);
  }

  async *opening(horizon: Horizon, range: Range): AsyncGenerator<JournalBalance[]> {
    const { from } = this.query;
    if (from === null) return;
    for await (const balances of streamBalances(this.client, horizon, openingOf(range, from)))
      for (const { ledgerAccountId, balance } of balances)
        add(this.held, this.accountOf(ledgerAccountId), balance);
    yield [...this.held]
      .map(([account, balance]) => ({ account, balance }))
      .filter(({ balance }) => balance !== 0n);
  }

  async *transactions(range: Range, day: string): AsyncGenerator<JournalTransaction[]> {
    const sums = await this.sumsOf(range, day);
    const entries = [...this.byName.values()]
      .map((account) => ({ account, amount: sums.get(account) ?? 0n }))
      .filter(({ amount }) => amount !== 0n);
    if (entries.length === 0) return;
    for (const { account, amount } of entries) {
      this.touched.add(account);
      add(this.held, account, amount);
    }
    const nothing = { id: null, recordedAt: null, effectiveAt: null, reference: null, chargeId: null };
    yield [{ day, ...nothing, kind: 'summary of the day', entries }];
  }

  private async sumsOf(range: Range, day: string): Promise<Map<JournalAccount, bigint>> {
    const sums = new Map<JournalAccount, bigint>();
    const days = [range.from, range.to, range.recordedBefore, day];
    const ids = range.by === 'recorded' ? await idsOfDay(this.client, range, day) : null;
    // What was effective on a day may have been recorded long after it, so its ids tell little.
    if (range.by === 'recorded' && ids === null) return sums;
    const [sql, values] = ids ? [RECORDED, [...days, ids.first, ids.last]] : [EFFECTIVE, days];
    for await (const rows of fetched<{ id: string; amount: string }>(this.client, sql, values))
      for (const { id, amount } of rows) add(sums, this.accountOf(id), BigInt(amount));
    return sums;
  }

  async *closing(): AsyncGenerator<JournalBalance[]> {
    const { touched } = this;
    this.touched = new Set();
    if (touched.size === 0) return;
    yield await Promise.resolve(
      [...touched].map((account) => ({ account, balance: this.held.get(account) ?? 0n })),
    );
  }

  private accountOf(id: string | bigint): JournalAccount {
    const account = this.found[(this.places[Number(id)] ?? 0) - 1];
    if (!account) throw new Error(`There is no ledger account ${id}.`);
    return account;
  }
}

function add(sums: Map<JournalAccount, bigint>, account: JournalAccount, amount: bigint): void {
  sums.set(account, (sums.get(account) ?? 0n) + amount);
}
