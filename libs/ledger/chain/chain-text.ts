import { hash } from 'node:crypto';

/**
 * The text that the chain is made of, which anyone can reproduce from the tables. docs/finance.md defines it in full.
 *
 * A row's text is its line as written by `COPY (SELECT columns) TO STDOUT` in UTF-8, including the line feed, with UTC times
 * (`2026-01-31 10:00:00.5+00`). A transaction's text is its own line and those of its entries by ordinal.
 */

/** Every column of the tables, in this order. Any change needs a new version of the text. */
export const CHAINED_COLUMNS = {
  ledger_accounts: ['id', 'code', 'commodity', 'kind', 'account_id', 'created_at'],
  ledger_transactions: [
    'id',
    'kind',
    'reference',
    'account_id',
    'charge_id',
    'linked_id',
    'effective_at',
    'recorded_at',
  ],
  ledger_entries: [
    'transaction_id',
    'ordinal',
    'commodity',
    'ledger_account_id',
    'amount',
    'balance_after',
    'model_id',
    'group_name',
    'channel_id',
    'key_id',
  ],
} as const;

export const HASH_BYTES = 32;

export const GENESIS_HASH = '0'.repeat(64);

/** A block's row. Hashes in hex. */
export interface ChainBlock {
  readonly number: bigint;
  readonly previousHash: string;
  readonly firstId: bigint;
  readonly lastId: bigint;
  readonly transactionCount: number;
  readonly entryCount: number;
  readonly digest: string;
  /** Of the bytes of its leaves. */
  readonly leavesHash: string;
  /** ISO 8601 in UTC, with microseconds. */
  readonly sealedAt: string;
  readonly hash: string;
}

/** SHA-256 of the lines that define a block, in hex. */
export function blockHash(block: Omit<ChainBlock, 'hash'>): string {
  const lines = [
    'tollgate ledger chain 1',
    `block ${block.number}`,
    `previous ${block.previousHash}`,
    `transactions ${block.transactionCount} from ${block.firstId} to ${block.lastId}`,
    `entries ${block.entryCount}`,
    `digest ${block.digest}`,
    `leaves ${block.leavesHash}`,
    `sealed ${block.sealedAt}`,
  ];
  return hash('sha256', `${lines.join('\n')}\n`);
}

/** SHA-256 of the bytes of leaves, in hex. */
export function leavesHashOf(leaves: Buffer): string {
  return hash('sha256', leaves);
}

export function sha256(bytes: Uint8Array): Buffer {
  return hash('sha256', bytes, 'buffer');
}

/** The digest of a block: SHA-256 of the hashes of its ledger accounts, then of its transactions, each by id; in hex. */
export function digestOf(hashes: { accounts: Buffer; transactions: Buffer }): string {
  return hash('sha256', Buffer.concat([hashes.accounts, hashes.transactions]));
}
