import { setImmediate as othersTurn } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import type pg from 'pg';
import { type CopiedRows, copyOut } from '#database/copy-out.js';
import { encodeLeaves, type HashesById, PREFIX_BYTES, TURN_TRANSACTIONS } from './chain-leaves.js';
import { CHAINED_COLUMNS, HASH_BYTES, sha256 } from './chain-text.js';

/** The transactions of a block as they are in the tables now. */
export interface RowsOfBlock {
  /** Ascending. Includes transactions whose own row is gone but whose entries are left. */
  readonly transactionIds: readonly number[];
  readonly transactionHashes: Buffer;
  readonly entryCount: number;
  /** The ledger accounts named by entries, in any order. */
  readonly ledgerAccountIds: ReadonlySet<number>;
  /** Checksums of a transaction's own row (0 if it is gone) and of its entries, as in leaves. */
  rowSums(index: number): number[];
  /** The contents of a transaction's rows, to name it. */
  rowsOf(index: number): TransactionRows;
}

export interface TransactionRows {
  readonly id: number;
  readonly reference: string | null;
  /** The checksum of its own row, or null if it has none. */
  readonly own: number | null;
  readonly entries: readonly { ordinal: number; sum: number }[];
}

/** The clients of one snapshot: transactions and entries are read side by side where there are two. */
export type ChainClients = readonly [pg.ClientBase, pg.ClientBase];

const columns = (table: keyof typeof CHAINED_COLUMNS): string => CHAINED_COLUMNS[table].join(', ');

/** Settings that the text of rows relies on, for a client's transaction. */
export const CHAIN_SETTINGS = `SET LOCAL timezone = 'UTC'; SET LOCAL datestyle = 'ISO'`;

/** Reads the transactions with ids after one and up to another, with their entries. All of them are held in memory. */
export async function readRowsOfBlock(
  [first, second]: ChainClients,
  afterId: bigint,
  throughId: bigint,
): Promise<RowsOfBlock> {
  const [transactions, entries] = await Promise.all([
    copyOut(
      first,
      `SELECT ${columns('ledger_transactions')} FROM ledger_transactions
       WHERE id > ${afterId} AND id <= ${throughId} ORDER BY id`,
    ),
    copyOut(
      second,
      `SELECT ${columns('ledger_entries')} FROM ledger_entries
       WHERE transaction_id > ${afterId} AND transaction_id <= ${throughId} ORDER BY transaction_id, ordinal`,
    ),
  ]);
  return CopiedBlock.of(transactions, entries);
}

/** The hashes of ledger accounts, by id, of those that exist. */
export async function readAccounts(client: pg.ClientBase, ids: readonly number[]): Promise<HashesById> {
  if (ids.length === 0) return { ids: [], hashes: Buffer.alloc(0) };
  const rows = await copyOut(
    client,
    `SELECT ${columns('ledger_accounts')} FROM ledger_accounts WHERE id = ANY('{${ids.join()}}'::bigint[]) ORDER BY id`,
  );
  const hashes = Buffer.allocUnsafe(rows.ends.length * HASH_BYTES);
  const found = rows.ends.map((end, index) => {
    const start = rows.ends[index - 1] ?? 0;
    sha256(rows.bytes.subarray(start, end)).copy(hashes, index * HASH_BYTES);
    return numberAt(rows.bytes, start);
  });
  return { ids: found, hashes };
}

export function encodedLeaves(accounts: HashesById, rows: RowsOfBlock): Promise<Buffer> {
  const transactions = { ids: rows.transactionIds, hashes: rows.transactionHashes };
  const rowCount = transactions.ids.length + rows.entryCount;
  return encodeLeaves({ accounts, transactions, rowSums: (index) => rows.rowSums(index) }, rowCount);
}

/** The beginnings of hashes, as leaves have them. */
export function prefixesOf(hashes: Buffer): Buffer {
  const prefixes = Buffer.allocUnsafe((hashes.length / HASH_BYTES) * PREFIX_BYTES);
  for (let from = 0, to = 0; from < hashes.length; from += HASH_BYTES, to += PREFIX_BYTES)
    hashes.copy(prefixes, to, from, from + PREFIX_BYTES);
  return prefixes;
}

const TAB = 0x09;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const LONGEST_LINES = 4_096;

/** The number at the beginning of a field. */
function numberAt(bytes: Buffer, at: number): number {
  const negative = bytes[at] === MINUS;
  let value = 0;
  for (let index = negative ? at + 1 : at; ; index += 1) {
    const byte = bytes[index] ?? 0;
    if (byte < ZERO || byte > NINE) return negative ? -value : value;
    value = value * 10 + byte - ZERO;
  }
}

/** The place of a field in the line that begins at `at`, counted from 0. */
function fieldAt(bytes: Buffer, at: number, field: number): number {
  let start = at;
  for (let index = 0; index < field; index += 1) start = bytes.indexOf(TAB, start) + 1;
  return start;
}

/** Merges the rows of both tables, which come in order of ID. */
class CopiedBlock implements RowsOfBlock {
  readonly transactionIds: number[] = [];
  readonly ledgerAccountIds = new Set<number>();
  transactionHashes: Buffer = Buffer.alloc(0);
  /** For each transaction: the index of its row, or -1, and of its first entry. */
  private readonly ownRows: number[] = [];
  private readonly firstEntries: number[] = [];

  private constructor(
    private readonly transactions: CopiedRows,
    private readonly entries: CopiedRows,
  ) {}

  static async of(transactions: CopiedRows, entries: CopiedRows): Promise<CopiedBlock> {
    const block = new CopiedBlock(transactions, entries);
    await block.pair();
    block.transactionHashes = await block.hashes();
    return block;
  }

  get entryCount(): number {
    return this.entries.ends.length;
  }

  rowSums(index: number): number[] {
    const own = this.ownRows[index] as number;
    const sums = [own < 0 ? 0 : sumOf(this.transactions, own)];
    const end = this.firstEntries[index + 1] as number;
    for (let row = this.firstEntries[index] as number; row < end; row += 1)
      sums.push(sumOf(this.entries, row));
    return sums;
  }

  rowsOf(index: number): TransactionRows {
    const own = this.ownRows[index] as number;
    const [ownSum = null, ...sums] = this.rowSums(index);
    const { bytes } = this.entries;
    const first = this.firstEntries[index] as number;
    const entries = sums.map((sum, place) => {
      const ordinal = numberAt(bytes, fieldAt(bytes, startOf(this.entries, first + place), 1));
      return { ordinal, sum };
    });
    const reference = own < 0 ? null : this.reference(own);
    return {
      id: this.transactionIds[index] as number,
      reference,
      entries,
      own: own < 0 ? null : ownSum,
    };
  }

  private reference(own: number): string {
    const { bytes } = this.transactions;
    const from = fieldAt(bytes, startOf(this.transactions, own), 2);
    return bytes.toString('utf8', from, bytes.indexOf(TAB, from));
  }

  private async pair(): Promise<void> {
    const { transactions, entries } = this;
    const [owns, all] = [transactions.ends.length, entries.ends.length];
    let [own, entry] = [0, 0];
    let ownId = own < owns ? numberAt(transactions.bytes, 0) : Infinity;
    let entryId = entry < all ? numberAt(entries.bytes, 0) : Infinity;
    while (own < owns || entry < all) {
      if (this.transactionIds.length % TURN_TRANSACTIONS === 0) await othersTurn();
      const id = Math.min(ownId, entryId);
      this.transactionIds.push(id);
      this.ownRows.push(ownId === id ? own : -1);
      this.firstEntries.push(entry);
      if (ownId === id)
        ownId = ++own < owns ? numberAt(transactions.bytes, startOf(transactions, own)) : Infinity;
      while (entryId === id) {
        this.noteAccount(startOf(entries, entry));
        entryId = ++entry < all ? numberAt(entries.bytes, startOf(entries, entry)) : Infinity;
      }
    }
    this.firstEntries.push(all);
  }

  private noteAccount(at: number): void {
    const { bytes } = this.entries;
    this.ledgerAccountIds.add(numberAt(bytes, fieldAt(bytes, at, 3)));
  }

  private async hashes(): Promise<Buffer> {
    const hashes = Buffer.allocUnsafe(this.transactionIds.length * HASH_BYTES);
    let lines = Buffer.allocUnsafe(LONGEST_LINES);
    for (let index = 0; index < this.transactionIds.length; index += 1) {
      if (index % TURN_TRANSACTIONS === 0) await othersTurn();
      const own = this.ownRows[index] as number;
      const [first, end] = [this.firstEntries[index] as number, this.firstEntries[index + 1] as number];
      const ownStart = own < 0 ? 0 : startOf(this.transactions, own);
      const ownEnd = own < 0 ? 0 : (this.transactions.ends[own] as number);
      const [from, to] = [startOf(this.entries, first), startOf(this.entries, end)];
      const length = ownEnd - ownStart + to - from;
      if (length > lines.length) lines = Buffer.allocUnsafe(length * 2);
      const copied = this.transactions.bytes.copy(lines, 0, ownStart, ownEnd);
      this.entries.bytes.copy(lines, copied, from, to);
      sha256(lines.subarray(0, length)).copy(hashes, index * HASH_BYTES);
    }
    return hashes;
  }
}

function startOf(rows: CopiedRows, row: number): number {
  return row === 0 ? 0 : (rows.ends[row - 1] as number);
}

function sumOf(rows: CopiedRows, row: number): number {
  return crc32(rows.bytes.subarray(startOf(rows, row), rows.ends[row]));
}
