import { setImmediate as othersTurn } from 'node:timers/promises';
import { HASH_BYTES } from './chain-text.js';

/**
 * The leaves of a block name what was changed if its digest does not match. Written as bytes, because there are millions: IDs
 * as the difference from the previous one, the beginning of each hash, and a checksum for each row, which shows which row of a
 * transaction was changed.
 */
export interface BlockLeaves {
  /** Ids of the ledger accounts that the block seals, ascending. */
  readonly accountIds: readonly number[];
  /** PREFIX_BYTES for each. */
  readonly accountHashes: Buffer;
  /** Ids of the transactions, ascending. */
  readonly transactionIds: readonly number[];
  readonly transactionHashes: Buffer;
  /** For each transaction: checksums of its own row, then of its entries by ordinal, starting at 0. */
  readonly rowSums: readonly (readonly number[])[];
}

/** Half of a hash is enough to name a row: the digest proves that something was changed. */
export const PREFIX_BYTES = 8;
const VERSION = 1;
/** A number below 2^53. */
const LONGEST_NUMBER = 8;

/** The input of leaves: full hashes, of which only the beginnings are kept. */
export interface SealedRows {
  readonly accounts: HashesById;
  readonly transactions: HashesById;
  /** For the transaction with that index, like `rowSums` of the leaves. */
  rowSums(index: number): readonly number[];
}

export interface HashesById {
  /** Ascending. */
  readonly ids: readonly number[];
  /** HASH_BYTES for each. */
  readonly hashes: Buffer;
}

/**
 * After this many transactions, whatever else waits in the process gets a turn: a millisecond of work at most. A call takes
 * about ten turns, and each can come after one of these.
 */
export const TURN_TRANSACTIONS = 64;

/** The bytes are not valid leaves. */
export class InvalidLeaves extends Error {}

export async function encodeLeaves(sealed: SealedRows, rowCount: number): Promise<Buffer> {
  const { accounts, transactions } = sealed;
  const items = accounts.ids.length + transactions.ids.length;
  const writer = new Writer(64 + items * (PREFIX_BYTES + LONGEST_NUMBER * 2) + rowCount * 4);
  writer.number(VERSION);
  writer.number(accounts.ids.length);
  writer.number(transactions.ids.length);
  let before = 0;
  for (const [index, id] of accounts.ids.entries()) {
    writer.number(id - before);
    writer.prefix(accounts.hashes, index);
    before = id;
  }
  before = 0;
  for (const [index, id] of transactions.ids.entries()) {
    if (index % TURN_TRANSACTIONS === 0) await othersTurn();
    const sums = sealed.rowSums(index);
    writer.number(id - before);
    writer.number(sums.length);
    writer.prefix(transactions.hashes, index);
    for (const sum of sums) writer.uint32(sum);
    before = id;
  }
  return writer.done();
}

/** Only the IDs of the ledger accounts. @throws InvalidLeaves */
export function accountIdsOf(bytes: Buffer): readonly number[] {
  return new Reader(bytes).accounts().accountIds;
}

/** @throws InvalidLeaves */
export function decodeLeaves(bytes: Buffer): BlockLeaves {
  const reader = new Reader(bytes);
  const { accountIds, accountHashes, transactions } = reader.accounts();
  const transactionIds: number[] = [];
  const transactionHashes = Buffer.alloc(transactions * PREFIX_BYTES);
  const rowSums: number[][] = [];
  for (let index = 0; index < transactions; index += 1) {
    transactionIds.push((transactionIds.at(-1) ?? 0) + reader.number());
    const count = reader.number();
    reader.bytes(transactionHashes, index * PREFIX_BYTES);
    rowSums.push(reader.uint32s(count));
  }
  reader.end();
  return { accountIds, accountHashes, transactionIds, transactionHashes, rowSums };
}

/** Numbers with seven bits per byte, lowest first. The highest bit means that more bytes follow. */
class Writer {
  private readonly buffer: Buffer;
  private at = 0;

  constructor(most: number) {
    this.buffer = Buffer.allocUnsafe(most);
  }

  number(value: number): void {
    let rest = value;
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) this.buffer[this.at++] = (rest % 0x80) + 0x80;
    this.buffer[this.at++] = rest;
  }

  /** Reads the beginning of one of the full hashes. */
  prefix(hashes: Buffer, index: number): void {
    const from = index * HASH_BYTES;
    for (let byte = 0; byte < PREFIX_BYTES; byte += 1) this.buffer[this.at++] = hashes[from + byte] as number;
  }

  uint32(value: number): void {
    this.buffer[this.at++] = value >>> 24;
    this.buffer[this.at++] = value >>> 16;
    this.buffer[this.at++] = value >>> 8;
    this.buffer[this.at++] = value;
  }

  done(): Buffer {
    return this.buffer.subarray(0, this.at);
  }
}

class Reader {
  private at = 0;

  constructor(private readonly buffer: Buffer) {}

  /** Everything before the transactions, and their number. */
  accounts(): Pick<BlockLeaves, 'accountIds' | 'accountHashes'> & { transactions: number } {
    if (this.number() !== VERSION) throw new InvalidLeaves('These are no leaves of this version.');
    const [accounts, transactions] = [this.number(), this.number()];
    if (accounts + transactions > this.buffer.length) throw new InvalidLeaves('The leaves are cut off.');
    const accountIds: number[] = [];
    const accountHashes = Buffer.alloc(accounts * PREFIX_BYTES);
    for (let index = 0; index < accounts; index += 1) {
      accountIds.push((accountIds.at(-1) ?? 0) + this.number());
      this.bytes(accountHashes, index * PREFIX_BYTES);
    }
    return { accountIds, accountHashes, transactions };
  }

  number(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 0x80) {
      const byte = this.buffer[this.at++];
      if (byte === undefined) throw new InvalidLeaves('The leaves are cut off.');
      value += (byte % 0x80) * scale;
      if (byte < 0x80) return value;
    }
  }

  bytes(target: Buffer, to: number): void {
    const copied = this.buffer.copy(target, to, this.at, this.at + PREFIX_BYTES);
    if (copied !== PREFIX_BYTES) throw new InvalidLeaves('The leaves are cut off.');
    this.at += copied;
  }

  uint32s(count: number): number[] {
    if (this.at + count * 4 > this.buffer.length) throw new InvalidLeaves('The leaves are cut off.');
    const values: number[] = [];
    for (let index = 0; index < count; index += 1, this.at += 4)
      values.push(this.buffer.readUInt32BE(this.at));
    return values;
  }

  end(): void {
    if (this.at !== this.buffer.length) throw new InvalidLeaves('The leaves do not end where they should.');
  }
}
