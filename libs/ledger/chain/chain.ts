import type pg from 'pg';
import { outboxInsert, outboxRow } from '#bus/outbox.js';
import { topics } from '#bus/topics.js';
import { inTransaction } from '#database/database.js';
import { tryLock } from '#database/locks.js';
import type { Logger } from '#platform/logging.js';
import { atHorizon } from '../postings/horizon.js';
import {
  CHAIN_SETTINGS,
  encodedLeaves,
  readAccounts,
  readRowsOfBlock,
  type RowsOfBlock,
} from './chain-rows.js';
import { blockHash, type ChainBlock, digestOf, GENESIS_HASH, leavesHashOf } from './chain-text.js';

/** The end of the chain, as kept outside the database. */
export type ChainHead = Pick<ChainBlock, 'number' | 'hash' | 'lastId' | 'sealedAt'>;

export const BLOCK_COLUMNS = `number, encode(previous_hash, 'hex') AS "previousHash", first_id AS "firstId",
  last_id AS "lastId", transaction_count AS "transactionCount", entry_count AS "entryCount",
  encode(digest, 'hex') AS digest, encode(leaves_hash, 'hex') AS "leavesHash", encode(hash, 'hex') AS hash,
  to_char(sealed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS "sealedAt"`;

/** The newest block, or null if there is none yet. */
export async function currentHead(database: pg.Pool | pg.ClientBase): Promise<ChainBlock | null> {
  const { rows } = await database.query<ChainBlock>(
    `SELECT ${BLOCK_COLUMNS} FROM ledger_chain_blocks ORDER BY number DESC LIMIT 1`,
  );
  return rows[0] ?? null;
}

/** Blocks before a number, newest first. */
export async function listBlocks(
  database: pg.Pool | pg.ClientBase,
  query: { before: bigint | null; limit: number },
): Promise<ChainBlock[]> {
  const { rows } = await database.query<ChainBlock>(
    `SELECT ${BLOCK_COLUMNS} FROM ledger_chain_blocks b WHERE $1::bigint IS NULL OR b.number < $1
     ORDER BY b.number DESC LIMIT $2`,
    [query.before, query.limit],
  );
  return rows;
}

/** Sealing a block of this size takes about 20 MB of memory. */
const DEFAULT_BLOCK_TRANSACTIONS = 10_000;
/** The number of ledger accounts remembered as sealed, so that they are not looked up again. */
const ACCOUNTS_REMEMBERED = 100_000;

export interface ChainBuilderOptions {
  /** Two of its connections are used at once. */
  pool: pg.Pool;
  log: Pick<Logger, 'info'>;
  blockTransactions?: number;
}

/**
 * Seals postings into blocks, in the background and only once they are final, so that a block never misses a transaction that
 * commits late. A block, its leaves and its announcement are one transaction, so a kill leaves all of it or nothing.
 */
export class ChainBuilder {
  private readonly sealedAccounts = new Set<number>();

  constructor(private readonly options: ChainBuilderOptions) {}

  /**
   * Seals everything up to the horizon. `stop` ends it after a block.
   * @returns the new blocks; none if nothing is new or another builder is at work
   */
  async seal(stop?: AbortSignal): Promise<ChainBlock[]> {
    const blocks: ChainBlock[] = [];
    if (!(await this.isDue())) return blocks;
    const { lastLedgerId } = await atHorizon(this.options.pool, (_, horizon) => Promise.resolve(horizon));
    while (!stop?.aborted) {
      const sealed = await inTransaction(this.options.pool, (client) => this.sealNext(client, lastLedgerId));
      if (sealed === null) break;
      this.remember(sealed.accountIds);
      this.tell(sealed.block);
      blocks.push(sealed.block);
    }
    return blocks;
  }

  private async isDue(): Promise<boolean> {
    const { rows } = await this.options.pool.query<{ due: boolean }>(
      `SELECT EXISTS (SELECT FROM ledger_transactions WHERE id > coalesce(
         (SELECT last_id FROM ledger_chain_blocks ORDER BY number DESC LIMIT 1), -9223372036854775808)) AS due`,
    );
    return rows[0]?.due ?? false;
  }

  private async sealNext(client: pg.PoolClient, beforeId: bigint): Promise<Sealed | null> {
    await client.query(CHAIN_SETTINGS);
    // One builder at a time.
    if (!(await tryLock(client, 'ledgerChain'))) return null;
    const head = await currentHead(client);
    const afterId = head?.lastId ?? BEFORE_ALL;
    const lastId = await this.lastIdOfNext(client, afterId, beforeId);
    if (lastId === null) return null;
    const rows = await this.readRows(client, afterId, lastId);
    const accountIds = [...rows.ledgerAccountIds].filter((id) => !this.sealedAccounts.has(id));
    const accounts = await readAccounts(client, await unsealed(client, accountIds));
    const leaves = await encodedLeaves(accounts, rows);
    const digest = digestOf({ accounts: accounts.hashes, transactions: rows.transactionHashes });
    const block = await insertBlock(client, {
      number: (head?.number ?? 0n) + 1n,
      previousHash: head?.hash ?? GENESIS_HASH,
      digest,
      leavesHash: leavesHashOf(leaves),
      firstId: BigInt(rows.transactionIds[0] ?? 0),
      lastId,
      transactionCount: rows.transactionIds.length,
      entryCount: rows.entryCount,
    });
    await insertLeaves(client, block.number, { accountIds: accounts.ids, leaves });
    await announce(client, block);
    return { block, accountIds };
  }

  /**
   * Everything read here is below the horizon, so every connection sees the same. Only the builder with the lock takes a second
   * connection: several builders that each hold one and wait for another could exhaust the pool.
   */
  private async readRows(client: pg.PoolClient, afterId: bigint, lastId: bigint): Promise<RowsOfBlock> {
    const reader = await this.options.pool.connect();
    try {
      return await readRowsOfBlock([client, reader], afterId, lastId);
    } finally {
      reader.release();
    }
  }

  private async lastIdOfNext(
    client: pg.ClientBase,
    afterId: bigint,
    beforeId: bigint,
  ): Promise<bigint | null> {
    const { rows } = await client.query<{ lastId: bigint | null }>(
      `SELECT max(id) AS "lastId" FROM (SELECT id FROM ledger_transactions WHERE id > $1 AND id < $2
         ORDER BY id LIMIT $3) AS next`,
      [afterId, beforeId, this.options.blockTransactions ?? DEFAULT_BLOCK_TRANSACTIONS],
    );
    return rows[0]?.lastId ?? null;
  }

  /** Only after the commit: a block that was rolled back sealed nothing. */
  private remember(accountIds: readonly number[]): void {
    if (this.sealedAccounts.size > ACCOUNTS_REMEMBERED) this.sealedAccounts.clear();
    for (const id of accountIds) this.sealedAccounts.add(id);
  }

  /** The log keeps the head outside the database as well. */
  private tell({ number, hash, lastId, transactionCount }: ChainBlock): void {
    const sealed = {
      block: number.toString(),
      hash,
      lastId: lastId.toString(),
      transactions: transactionCount,
    };
    this.options.log.info(sealed, 'a block of the ledger was sealed');
  }
}

interface Sealed {
  block: ChainBlock;
  accountIds: readonly number[];
}

/** The ID before the first block. */
export const BEFORE_ALL = -(2n ** 63n);

/** The ledger accounts that no block has sealed yet. */
async function unsealed(client: pg.ClientBase, ids: readonly number[]): Promise<number[]> {
  if (ids.length === 0) return [];
  const { rows } = await client.query<{ id: string }>(
    `SELECT id::text FROM unnest($1::bigint[]) AS id
     WHERE NOT EXISTS (SELECT FROM ledger_chain_accounts s WHERE s.ledger_account_id = id)`,
    [ids],
  );
  return rows.map(({ id }) => Number(id));
}

const INSERT_BLOCK = `INSERT INTO ledger_chain_blocks (number, previous_hash, first_id, last_id, transaction_count, entry_count, digest,
    leaves_hash, hash, sealed_at)
  VALUES ($1, decode($2, 'hex'), $3, $4, $5, $6, decode($7, 'hex'), decode($8, 'hex'), decode($9, 'hex'), $10::timestamptz)`;

async function insertBlock(
  client: pg.ClientBase,
  unsealedBlock: Omit<ChainBlock, 'hash' | 'sealedAt'>,
): Promise<ChainBlock> {
  const { rows } = await client.query<{ now: string }>(
    `SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS now`,
  );
  const block = { ...unsealedBlock, sealedAt: rows[0]?.now ?? '' };
  const hash = blockHash(block);
  await client.query(INSERT_BLOCK, [
    block.number,
    block.previousHash,
    block.firstId,
    block.lastId,
    block.transactionCount,
    block.entryCount,
    block.digest,
    block.leavesHash,
    hash,
    block.sealedAt,
  ]);
  return { ...block, hash };
}

async function insertLeaves(
  client: pg.ClientBase,
  number: bigint,
  { accountIds, leaves }: { accountIds: readonly number[]; leaves: Buffer },
): Promise<void> {
  await client.query('INSERT INTO ledger_chain_leaves (block_number, leaves) VALUES ($1, $2)', [
    number,
    leaves,
  ]);
  await client.query(
    `INSERT INTO ledger_chain_accounts (ledger_account_id, block_number) SELECT id, $1 FROM unnest($2::bigint[]) AS id`,
    [number, accountIds],
  );
}

async function announce(client: pg.ClientBase, block: ChainBlock): Promise<void> {
  const { number, hash, lastId, transactionCount, sealedAt } = block;
  const sealed = { number: number.toString(), hash, lastId: lastId.toString(), transactionCount, sealedAt };
  await client.query(outboxInsert('billing', [outboxRow(topics.ledgerSealed, sealed)]));
}
