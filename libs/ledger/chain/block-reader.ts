import type pg from 'pg';
import { BEFORE_ALL, BLOCK_COLUMNS } from './chain.js';
import {
  accountIdsOf,
  type BlockLeaves,
  decodeLeaves,
  type HashesById,
  InvalidLeaves,
} from './chain-leaves.js';
import { type ChainClients, readAccounts, readRowsOfBlock, type RowsOfBlock } from './chain-rows.js';
import { blockHash, type ChainBlock, leavesHashOf } from './chain-text.js';

const BLOCKS_AT_ONCE = 200;

export interface BlockInTurn {
  readonly block: ChainBlock;
  /** The previous block. Null if it is missing or there is none. */
  readonly previous: ChainBlock | null;
  /** The next expected number. If the block's number is higher, the ones in between are missing. */
  readonly expected: bigint;
}

/** A block with what is needed to verify it, read ahead while the one before is verified. */
export interface LoadedBlock {
  block: ChainBlock;
  /** As they are stored. */
  leaves: Buffer | null;
  rows: RowsOfBlock;
  /** The ledger accounts covered by the leaves. */
  sealedIds: readonly number[];
  accounts: HashesById;
}

/** Reads blocks with what they sealed, as far as it still exists. */
export class BlockReader {
  constructor(
    private readonly clients: ChainClients,
    private readonly range: { readonly from: bigint; readonly to: bigint | null },
  ) {}

  async totalEntries(): Promise<number> {
    const { from, to } = this.range;
    const { rows } = await this.clients[0].query<{ total: string }>(
      `SELECT coalesce(sum(entry_count), 0)::text AS total FROM ledger_chain_blocks
       WHERE number >= $1 AND ($2::bigint IS NULL OR number <= $2)`,
      [from, to],
    );
    return Number(rows[0]?.total ?? 0);
  }

  async knows(hash: string): Promise<boolean> {
    const { rows } = await this.clients[0].query<{ known: boolean }>(
      `SELECT EXISTS (SELECT FROM ledger_chain_blocks WHERE hash = decode($1, 'hex')) AS known`,
      [hash],
    );
    return rows[0]?.known ?? false;
  }

  async *blocks(): AsyncGenerator<BlockInTurn> {
    const { from, to } = this.range;
    let previous = from > 1n ? ((await this.page(from - 1n, from - 1n))[0] ?? null) : null;
    for (let next = from > 1n ? from : 1n; ;) {
      const page = await this.page(next, to);
      for (const block of page) {
        const isNext = previous?.number === block.number - 1n;
        yield { block, previous: isNext ? previous : null, expected: next };
        previous = block;
        next = block.number + 1n;
      }
      if (page.length < BLOCKS_AT_ONCE) return;
    }
  }

  private async page(from: bigint, to: bigint | null): Promise<ChainBlock[]> {
    const { rows } = await this.clients[0].query<ChainBlock>(
      `SELECT ${BLOCK_COLUMNS} FROM ledger_chain_blocks b
       WHERE b.number >= $1 AND ($2::bigint IS NULL OR b.number <= $2) ORDER BY b.number LIMIT $3`,
      [from, to, BLOCKS_AT_ONCE],
    );
    return rows;
  }

  /** What a block sealed, as stored then and as it is now. */
  async load({ block, previous }: BlockInTurn): Promise<LoadedBlock> {
    const [first] = this.clients;
    const leaves = await readLeaves(first, block.number);
    const afterId = previous ? previous.lastId : block.number === 1n ? BEFORE_ALL : block.firstId - 1n;
    const lastId = isIntact(block) ? block.lastId : (lastIdOf(leaves) ?? block.lastId);
    const rows = await readRowsOfBlock(this.clients, afterId, lastId);
    const areSealed = leaves !== null && leavesHashOf(leaves) === block.leavesHash;
    const sealedIds = areSealed ? accountIdsOf(leaves) : await listedAccounts(first, block.number);
    return { block, leaves, rows, sealedIds, accounts: await readAccounts(first, sealedIds) };
  }
}

/** Whether its row is the one that was sealed. */
export function isIntact(block: ChainBlock): boolean {
  return blockHash(block) === block.hash;
}

/** Null if the bytes are not valid leaves. */
export function decodedLeaves(stored: Buffer): BlockLeaves | null {
  try {
    return decodeLeaves(stored);
  } catch (error) {
    if (error instanceof InvalidLeaves) return null;
    throw error;
  }
}

async function readLeaves(client: pg.ClientBase, number: bigint): Promise<Buffer | null> {
  const { rows } = await client.query<{ leaves: Buffer }>(
    'SELECT leaves FROM ledger_chain_leaves WHERE block_number = $1',
    [number],
  );
  return rows[0]?.leaves ?? null;
}

/** The ledger accounts that a block sealed, if its leaves no longer show them. */
async function listedAccounts(client: pg.ClientBase, number: bigint): Promise<number[]> {
  const { rows } = await client.query<{ id: string }>(
    `SELECT ledger_account_id::text AS id FROM ledger_chain_accounts a WHERE block_number = $1 ORDER BY a.ledger_account_id`,
    [number],
  );
  return rows.map(({ id }) => Number(id));
}

/** If the row of a block was changed, the leaves show where the block ended. */
function lastIdOf(leaves: Buffer | null): bigint | null {
  const last = leaves && decodedLeaves(leaves)?.transactionIds.at(-1);
  return last === undefined || last === null ? null : BigInt(last);
}
