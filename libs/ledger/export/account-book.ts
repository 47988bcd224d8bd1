import type pg from 'pg';
import { type JournalAccount, unitOf } from './journal.js';

/** The number of accounts kept in memory. Others are looked up again. */
const ACCOUNTS_KNOWN = 50_000;

/** The accounts of an export, looked up when needed so that memory does not grow with their number. */
export class AccountBook {
  private readonly known = new Map<number, JournalAccount>();

  constructor(
    private readonly client: pg.ClientBase,
    private readonly currency: string,
  ) {}

  /** Looks up unknown accounts. `of` returns all of these until the next call. */
  async meet(ids: Iterable<number>): Promise<void> {
    const wanted = [...ids];
    if (this.known.size > ACCOUNTS_KNOWN) this.known.clear();
    const unknown = wanted.filter((id) => !this.known.has(id));
    if (unknown.length === 0) return;
    const { rows } = await this.client.query<BookAccount>(
      `SELECT id::text, code, kind, commodity FROM ledger_accounts WHERE id = ANY($1::bigint[])`,
      [unknown],
    );
    for (const row of rows) this.known.set(Number(row.id), this.journalAccount(row));
  }

  of(id: number): JournalAccount {
    const account = this.known.get(id);
    if (!account) throw new Error(`There is no ledger account ${id}.`);
    return account;
  }

  journalAccount(row: Omit<BookAccount, 'id'>): JournalAccount {
    return { code: row.code, kind: row.kind, unit: unitOf(row, this.currency) };
  }
}

export type BookAccount = Pick<JournalAccount, 'code' | 'kind'> & {
  id: string;
  commodity: 'CRD' | 'PAY' | 'UPC';
};

/** Balances of this many IDs are in an array; all others are in a map. */
const LARGEST_ID = 2 ** 27;
/** Beyond half of what the array holds a balance moves to the map. */
const LARGEST_BALANCE = 2n ** 62n;

/** The balances of accounts and which of them moved on a day, in eight bytes and a bit per account. */
export class HeldBalances {
  private small = new BigInt64Array(1_024);
  private readonly large = new Map<number, bigint>();
  private touched = new Uint8Array(128);

  get(id: number): bigint {
    return this.large.get(id) ?? this.small[id] ?? 0n;
  }

  add(id: number, amount: bigint): void {
    const balance = this.get(id) + amount;
    if (this.large.has(id) || id >= LARGEST_ID || balance > LARGEST_BALANCE || balance < -LARGEST_BALANCE)
      this.large.set(id, balance);
    else {
      if (id >= this.small.length) this.grow(id);
      this.small[id] = balance;
    }
  }

  touch(id: number): void {
    if (id >>> 3 >= this.touched.length) this.grow(id);
    this.touched[id >>> 3] = (this.touched[id >>> 3] as number) | (1 << (id & 7));
  }

  /** The accounts touched since the last call, by ID. */
  *takeTouched(): Generator<number> {
    const { touched } = this;
    this.touched = new Uint8Array(touched.length);
    for (const [byte, bits] of touched.entries()) {
      if (bits === 0) continue;
      for (let bit = 0; bit < 8; bit += 1) if (bits & (1 << bit)) yield byte * 8 + bit;
    }
  }

  private grow(id: number): void {
    const length = Math.max(this.small.length * 2, id + 1);
    const small = new BigInt64Array(length);
    small.set(this.small);
    this.small = small;
    const touched = new Uint8Array((length >>> 3) + 1);
    touched.set(this.touched);
    this.touched = touched;
  }
}
