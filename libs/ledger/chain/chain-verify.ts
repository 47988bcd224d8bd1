import type { KeyObject } from 'node:crypto';
import type pg from 'pg';
import { BEFORE_ALL, BLOCK_COLUMNS, blockOf, type BlockRow, type ChainHead, currentHead } from './chain.js';
import {
  accountDifferences,
  type ChainFinding,
  finding,
  transactionDifferences,
} from './chain-difference.js';
import { accountIdsOf, decodeLeaves, type HashesById, InvalidLeaves } from './chain-leaves.js';
import {
  CHAIN_SETTINGS,
  type ChainClients,
  readAccounts,
  readRowsOfBlock,
  type RowsOfBlock,
} from './chain-rows.js';
import { balanceFindings } from './chain-balances.js';
import { signatureFindings } from './chain-signature.js';
import { blockHash, type ChainBlock, digestOf, GENESIS_HASH, leavesHashOf } from './chain-text.js';

export interface VerifyOptions {
  /** The first and the last block, inclusive; all when left out. */
  from?: bigint;
  to?: bigint;
  /** A hash that was kept outside of the database: the chain must contain it. Hex. */
  expectedHead?: string;
  /** The signatures of this key are compared, and the newest block must have one. */
  publicKey?: KeyObject;
  /** Compares stored balances with the entries, too. */
  balances?: boolean;
  /** Told after each block: entries that were verified, of all in the range. */
  onProgress?: (done: number, total: number) => void;
}

export interface ChainVerification {
  ok: boolean;
  head: ChainHead | null;
  blocks: number;
  transactions: number;
  entries: number;
  /** All of them, also those that are not named. */
  findingCount: number;
  /** At most FINDINGS_NAMED. */
  findings: ChainFinding[];
}

/** A ledger that somebody replaced would differ in every transaction; a report of so many is enough. */
const FINDINGS_NAMED = 1_000;
const BLOCKS_AT_ONCE = 200;
const BEYOND_ALL = 2n ** 63n;

/**
 * Recomputes the chain from the rows on one snapshot and names what is not as it was sealed: transactions, entries and ledger
 * accounts that were changed, removed or inserted, and leaves and blocks themselves. Memory is that of two blocks. Reads
 * only; it takes two connections.
 */
export async function verifyChain(pool: pg.Pool, options: VerifyOptions = {}): Promise<ChainVerification> {
  const clients: pg.PoolClient[] = [];
  try {
    clients.push(await pool.connect(), await pool.connect());
    const [first, second] = clients as [pg.PoolClient, pg.PoolClient];
    await first.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const { rows } = await first.query<{ snapshot: string }>('SELECT pg_export_snapshot() AS snapshot');
    await second.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    await second.query(`SET TRANSACTION SNAPSHOT '${rows[0]?.snapshot}'`);
    for (const client of clients) {
      await client.query(CHAIN_SETTINGS);
      await client.query(
        `SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0`,
      );
    }
    return await new Verification([first, second], options).run();
  } finally {
    for (const client of clients) {
      const broken = await client.query('ROLLBACK').then(
        () => undefined,
        (error: Error) => error,
      );
      client.release(broken);
    }
  }
}

/** The same on a snapshot that the caller has open; it sets the time zone and the style of dates for the transaction. */
export async function verifyChainOn(
  client: pg.ClientBase,
  options: VerifyOptions,
): Promise<ChainVerification> {
  await client.query(CHAIN_SETTINGS);
  return new Verification([client, client], options).run();
}

/** A block with what is needed to verify it, read ahead while the one before is verified. */
interface LoadedBlock {
  block: ChainBlock;
  /** As they are stored. */
  leaves: Buffer | null;
  rows: RowsOfBlock;
  /** The ledger accounts that the leaves tell of. */
  sealedIds: readonly number[];
  accounts: HashesById;
}

class Verification {
  private readonly result: ChainVerification = {
    ok: true,
    head: null,
    blocks: 0,
    transactions: 0,
    entries: 0,
    findingCount: 0,
    findings: [],
  };
  private expectedHeadSeen = false;
  private sealedAccounts: IdSet | null = null;

  constructor(
    private readonly clients: ChainClients,
    private readonly options: VerifyOptions,
  ) {}

  async run(): Promise<ChainVerification> {
    const { from = 1n, expectedHead, onProgress } = this.options;
    const [client] = this.clients;
    this.result.head = await currentHead(client);
    const total = await this.totalEntries();
    // Only whoever begins at the first block has seen every ledger account being sealed.
    if (from <= 1n) this.sealedAccounts = new IdSet();
    onProgress?.(0, total);
    let ahead: Promise<LoadedBlock> | null = null;
    for await (const [block, previous] of this.blocks()) {
      // The next block is read while this one is verified; when this one fails, that failure is nobody's.
      const loading = this.load(block, previous);
      loading.catch(() => undefined);
      if (ahead) this.verify(await ahead, onProgress, total);
      ahead = loading;
    }
    if (ahead) this.verify(await ahead, onProgress, total);
    if (expectedHead !== undefined && !(await this.knows(expectedHead))) this.reportHead(expectedHead);
    await this.compareOutside();
    this.result.findings.sort(byBlock);
    this.result.ok = this.result.findingCount === 0;
    return this.result;
  }

  /** What the chain itself does not seal, and what vouches for it. */
  private async compareOutside(): Promise<void> {
    const { publicKey, balances } = this.options;
    const [client] = this.clients;
    if (publicKey)
      for (const found of await signatureFindings(client, this.result.head, publicKey)) this.report(found);
    if (balances) for (const found of await balanceFindings(client)) this.report(found);
  }

  private report(found: ChainFinding): void {
    this.result.findingCount += 1;
    if (this.result.findings.length < FINDINGS_NAMED) this.result.findings.push(found);
  }

  private reportHead(hash: string): void {
    const message = `No block has the hash ${hash}: the end of the chain was cut off or written anew since it was told.`;
    this.report(finding('head_missing', message, {}));
  }

  private async knows(hash: string): Promise<boolean> {
    if (this.expectedHeadSeen) return true;
    const { rows } = await this.clients[0].query<{ known: boolean }>(
      `SELECT EXISTS (SELECT FROM ledger_chain_blocks WHERE hash = decode($1, 'hex')) AS known`,
      [hash],
    );
    return rows[0]?.known ?? false;
  }

  private async totalEntries(): Promise<number> {
    const { from = 1n, to = null } = this.options;
    const { rows } = await this.clients[0].query<{ total: string }>(
      `SELECT coalesce(sum(entry_count), 0)::text AS total FROM ledger_chain_blocks
       WHERE number >= $1 AND ($2::bigint IS NULL OR number <= $2)`,
      [from, to],
    );
    return Number(rows[0]?.total ?? 0);
  }

  /** Blocks of the range in their order, each with the one before it. What the chain itself has wrong is reported on the way. */
  private async *blocks(): AsyncGenerator<[ChainBlock, ChainBlock | null]> {
    const { from = 1n, to = null } = this.options;
    let previous = from > 1n ? ((await this.page(from - 1n, from - 1n))[0] ?? null) : null;
    for (let next = from > 1n ? from : 1n; ;) {
      const page = await this.page(next, to);
      for (const block of page) {
        this.checkLink(block, previous, next);
        yield [block, previous?.number === block.number - 1n ? previous : null];
        previous = block;
        next = block.number + 1n;
      }
      if (page.length < BLOCKS_AT_ONCE) return;
    }
  }

  private async page(from: bigint, to: bigint | null): Promise<ChainBlock[]> {
    const { rows } = await this.clients[0].query<BlockRow>(
      `SELECT ${BLOCK_COLUMNS} FROM ledger_chain_blocks b
       WHERE b.number >= $1 AND ($2::bigint IS NULL OR b.number <= $2) ORDER BY b.number LIMIT $3`,
      [from, to, BLOCKS_AT_ONCE],
    );
    return rows.map(blockOf);
  }

  private checkLink(block: ChainBlock, previous: ChainBlock | null, expected: bigint): void {
    const { number } = block;
    for (let missing = expected; missing < number; missing += 1n) {
      // What it sealed is not known, so it cannot be missed.
      this.sealedAccounts = null;
      this.report(finding('block_missing', `Block ${missing} is missing.`, { block: missing }));
    }
    const follows = number === 1n ? GENESIS_HASH : previous?.number === number - 1n ? previous.hash : null;
    if (follows !== null && block.previousHash !== follows) {
      const message = `Block ${number} does not follow block ${number - 1n}: one of them was changed.`;
      this.report(finding('block_changed', message, { block: number }));
    }
    if (!isIntact(block)) {
      const message = `Block ${number} was changed: its hash is not that of its row.`;
      this.report(finding('block_changed', message, { block: number }));
    }
  }

  private async load(block: ChainBlock, previous: ChainBlock | null): Promise<LoadedBlock> {
    const [first] = this.clients;
    const leaves = await readLeaves(first, block.number);
    const afterId = previous ? previous.lastId : block.number === 1n ? BEFORE_ALL : block.firstId - 1n;
    const lastId = isIntact(block) ? block.lastId : (lastIdOf(leaves) ?? block.lastId);
    const rows = await readRowsOfBlock(this.clients, afterId, lastId);
    const areSealed = leaves !== null && leavesHashOf(leaves) === block.leavesHash;
    const sealedIds = areSealed ? accountIdsOf(leaves) : await listedAccounts(first, block.number);
    return { block, leaves, rows, sealedIds, accounts: await readAccounts(first, sealedIds) };
  }

  private verify(loaded: LoadedBlock, onProgress: VerifyOptions['onProgress'], total: number): void {
    const { block, rows } = loaded;
    const { result } = this;
    this.checkSeal(loaded);
    this.checkAccountsSealed(loaded);
    if (block.hash === this.options.expectedHead) this.expectedHeadSeen = true;
    result.blocks += 1;
    result.transactions += rows.transactionIds.length;
    result.entries += rows.entryCount;
    onProgress?.(result.entries, total);
  }

  private checkSeal(loaded: LoadedBlock): void {
    const { block, rows, accounts } = loaded;
    const { number } = block;
    const digest = digestOf({ accounts: accounts.hashes, transactions: rows.transactionHashes });
    const leavesHash = loaded.leaves && leavesHashOf(loaded.leaves);
    if (leavesHash !== block.leavesHash && isIntact(block)) {
      const what = leavesHash === null ? 'missing' : 'not those that were sealed';
      this.report(finding('leaves_changed', `The leaves of block ${number} are ${what}.`, { block: number }));
    }
    if (digest !== block.digest) this.nameDifferences(loaded);
  }

  private nameDifferences({ block, leaves: stored, rows, accounts }: LoadedBlock): void {
    const { number } = block;
    const before = this.result.findingCount;
    const leaves = stored && attempt(() => decodeLeaves(stored));
    if (leaves) {
      for (const found of accountDifferences(number, leaves, accounts)) this.report(found);
      for (const found of transactionDifferences(number, leaves, rows)) this.report(found);
    }
    if (this.result.findingCount > before || !isIntact(block)) return;
    const message = `Rows of block ${number} were changed; its leaves, which would name them, were changed too.`;
    this.report(finding('block_rows_changed', message, { block: number }));
  }

  /** Each ledger account that entries name is sealed by then. */
  private checkAccountsSealed({ block, sealedIds, rows }: LoadedBlock): void {
    const { sealedAccounts } = this;
    if (sealedAccounts === null) return;
    for (const id of sealedIds) sealedAccounts.add(id);
    for (const id of rows.ledgerAccountIds) {
      if (sealedAccounts.has(id)) continue;
      sealedAccounts.add(id);
      const message = `Entries name ledger account ${id}, which no block has sealed.`;
      this.report(finding('account_unsealed', message, { block: block.number, ledgerAccountId: BigInt(id) }));
    }
  }
}

function isIntact(block: ChainBlock): boolean {
  return blockHash(block) === block.hash;
}

/** Blocks are read ahead of the verification of their rows. */
function byBlock(left: ChainFinding, right: ChainFinding): number {
  return Number((left.block ?? BEYOND_ALL) - (right.block ?? BEYOND_ALL));
}

async function readLeaves(client: pg.ClientBase, number: bigint): Promise<Buffer | null> {
  const { rows } = await client.query<{ leaves: Buffer }>(
    'SELECT leaves FROM ledger_chain_leaves WHERE block_number = $1',
    [number],
  );
  return rows[0]?.leaves ?? null;
}

/** Which ledger accounts a block sealed, when its leaves do not tell any more. */
async function listedAccounts(client: pg.ClientBase, number: bigint): Promise<number[]> {
  const { rows } = await client.query<{ id: string }>(
    `SELECT ledger_account_id::text AS id FROM ledger_chain_accounts a WHERE block_number = $1 ORDER BY a.ledger_account_id`,
    [number],
  );
  return rows.map(({ id }) => Number(id));
}

/** Of a block whose row was changed the leaves tell up to where it went. */
function lastIdOf(leaves: Buffer | null): bigint | null {
  const last = leaves && attempt(() => decodeLeaves(leaves).transactionIds.at(-1));
  return last === undefined || last === null ? null : BigInt(last);
}

/** Null for bytes that are no leaves. */
function attempt<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof InvalidLeaves) return null;
    throw error;
  }
}

/** Small whole numbers, a bit for each. */
class IdSet {
  private bits = new Uint8Array(4_096);

  add(id: number): void {
    if (!isSmall(id)) return;
    if (id >>> 3 >= this.bits.length) {
      const larger = new Uint8Array(Math.max(this.bits.length * 2, (id >>> 3) + 1));
      larger.set(this.bits);
      this.bits = larger;
    }
    this.bits[id >>> 3] = (this.bits[id >>> 3] ?? 0) | (1 << (id & 7));
  }

  has(id: number): boolean {
    return isSmall(id) && ((this.bits[id >>> 3] ?? 0) & (1 << (id & 7))) !== 0;
  }
}

/** Ids of ledger accounts count from 1; a larger one was not given by the database. */
function isSmall(id: number): boolean {
  return Number.isInteger(id) && id >= 0 && id < 2 ** 30;
}
