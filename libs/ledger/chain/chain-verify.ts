import type { KeyObject } from 'node:crypto';
import type pg from 'pg';
import { limitStatements } from '#database/pooled-client.js';
import { BlockReader, type BlockInTurn, isIntact, decodedLeaves, type LoadedBlock } from './block-reader.js';
import { type ChainHead, currentHead } from './chain.js';
import { balanceFindings } from './chain-balances.js';
import {
  accountDifferences,
  type ChainFinding,
  finding,
  transactionDifferences,
} from './chain-difference.js';
import { CHAIN_SETTINGS, type ChainClients } from './chain-rows.js';
import { signatureFindings } from './chain-signature.js';
import { digestOf, GENESIS_HASH, leavesHashOf } from './chain-text.js';
import { IdSet } from './id-set.js';

export interface VerifyOptions {
  /** The first and last block, inclusive. Default: all. */
  from?: bigint;
  to?: bigint;
  /** A hash kept outside the database, which the chain must contain. Hex. */
  expectedHead?: string;
  /** The signatures of this key are compared, and the newest block must have one. */
  publicKey?: KeyObject;
  /** Compares stored balances with the entries, too. */
  balances?: boolean;
  /** Called after each block with the number of verified entries, and of all entries in the range. */
  onProgress?: (done: number, total: number) => void;
}

export interface ChainVerification {
  ok: boolean;
  head: ChainHead | null;
  blocks: number;
  transactions: number;
  entries: number;
  /** The number of all findings, including those not named. */
  findingCount: number;
  /** At most FINDINGS_NAMED. */
  findings: ChainFinding[];
}

/** A replaced ledger would differ in every transaction. Reporting this many is enough. */
const FINDINGS_NAMED = 1_000;
const BEYOND_ALL = 2n ** 63n;

/**
 * Recomputes the chain from the rows on one snapshot and names what differs from what was sealed: transactions, entries and
 * ledger accounts that were changed, removed or inserted, and leaves and blocks themselves. Holds two blocks in memory. Only
 * reads, on two connections.
 */
export async function verifyChain(pool: pg.Pool, options: VerifyOptions = {}): Promise<ChainVerification> {
  const clients: pg.PoolClient[] = [];
  try {
    // One after the other, so that the first is released if there is no second.
    for (let count = 0; count < 2; count += 1) clients.push(await pool.connect());
    const [first, second] = clients as [pg.PoolClient, pg.PoolClient];
    await first.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const { rows } = await first.query<{ snapshot: string }>('SELECT pg_export_snapshot() AS snapshot');
    await second.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    await second.query(`SET TRANSACTION SNAPSHOT '${rows[0]?.snapshot}'`);
    for (const client of clients) {
      await client.query(CHAIN_SETTINGS);
      await limitStatements(client, 0);
      await client.query('SET LOCAL idle_in_transaction_session_timeout = 0');
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

/** The same on the caller's open snapshot. Sets the time zone and date style for the transaction. */
export async function verifyChainOn(
  client: pg.ClientBase,
  options: VerifyOptions,
): Promise<ChainVerification> {
  await client.query(CHAIN_SETTINGS);
  return new Verification([client, client], options).run();
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

  private readonly reader: BlockReader;

  constructor(
    private readonly clients: ChainClients,
    private readonly options: VerifyOptions,
  ) {
    const { from = 1n, to = null } = options;
    this.reader = new BlockReader(clients, { from, to });
  }

  async run(): Promise<ChainVerification> {
    const { from = 1n, expectedHead, onProgress } = this.options;
    const [client] = this.clients;
    this.result.head = await currentHead(client);
    const total = await this.reader.totalEntries();
    // Only a check from the first block on has seen every ledger account being sealed.
    if (from <= 1n) this.sealedAccounts = new IdSet();
    onProgress?.(0, total);
    let ahead: Promise<LoadedBlock> | null = null;
    for await (const next of this.reader.blocks()) {
      this.checkLink(next);
      // The next block is read while this one is verified. If this one fails, it does not matter whether the next one does too.
      const loading = this.reader.load(next);
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
    const message = `No block has the hash ${hash}: the end of the chain was cut off or rewritten since then.`;
    this.report(finding('head_missing', message, {}));
  }

  private async knows(hash: string): Promise<boolean> {
    return this.expectedHeadSeen || this.reader.knows(hash);
  }

  private checkLink({ block, previous, expected }: BlockInTurn): void {
    const { number } = block;
    for (let missing = expected; missing < number; missing += 1n) {
      // What it sealed is not known, so it cannot be missed.
      this.sealedAccounts = null;
      this.report(finding('block_missing', `Block ${missing} is missing.`, { block: missing }));
    }
    const follows = number === 1n ? GENESIS_HASH : (previous?.hash ?? null);
    if (follows !== null && block.previousHash !== follows) {
      const message = `Block ${number} does not follow block ${number - 1n}: one of them was changed.`;
      this.report(finding('block_changed', message, { block: number }));
    }
    if (!isIntact(block)) {
      const message = `Block ${number} was changed: its hash is not that of its row.`;
      this.report(finding('block_changed', message, { block: number }));
    }
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
    const leaves = stored && decodedLeaves(stored);
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

/** Blocks are read ahead of the verification of their rows. */
function byBlock(left: ChainFinding, right: ChainFinding): number {
  return Number((left.block ?? BEYOND_ALL) - (right.block ?? BEYOND_ALL));
}
