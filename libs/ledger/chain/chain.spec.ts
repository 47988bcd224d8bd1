import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createHash } from 'node:crypto';
import type pg from 'pg';
import { inTransaction, openPool } from '#database/database.js';
import { createLedgerFixture, type LedgerFixture } from '../../../test/support/ledger.js';
import { until } from '../../../test/support/eventually.js';
import { LedgerLife } from '../../../test/support/ledger-life.js';
import { bookSuspense } from '../postings/suspense.js';
import { newId } from '#platform/ids.js';
import { ChainBuilder, currentHead, listBlocks } from './chain.js';
import { type ChainVerification, verifyChain, verifyChainOn } from './chain-verify.js';
import { blockHash, type ChainBlock, CHAINED_COLUMNS, GENESIS_HASH } from './chain-text.js';

let fixture: LedgerFixture;
const logged: unknown[] = [];
const log = { info: (fields: unknown) => void logged.push(fields) };
const builder = (blockTransactions = 10) =>
  new ChainBuilder({ pool: fixture.billing, log, blockTransactions });

beforeAll(async () => {
  fixture = await createLedgerFixture();
  const life = new LedgerLife(fixture);
  for (let round = 0; round < 2; round += 1) await life.everything();
  await life.close();
});
afterAll(() => fixture.close());

/** The block that seals a transaction. */
async function blockOf(
  id: bigint,
  database: pg.Pool | pg.ClientBase = fixture.billing,
): Promise<ChainBlock | undefined> {
  const blocks = await listBlocks(database, { before: null, limit: 1_000 });
  return blocks.findLast(({ lastId }) => lastId >= id);
}

describe('the builder', () => {
  it('seals everything in consecutive blocks and publishes each of them', async () => {
    const { rows } = await fixture.owner.query<{ transactions: bigint; entries: bigint }>(
      'SELECT (SELECT count(*) FROM ledger_transactions) AS transactions, (SELECT count(*) FROM ledger_entries) AS entries',
    );
    const blocks = await sealAll();
    const sealed = blocks.reduce((sum, { transactionCount }) => sum + transactionCount, 0);
    expect(sealed).toBe(Number(rows[0]?.transactions));
    expect(blocks.length).toBeGreaterThan(5);
    for (const [index, block] of blocks.entries()) {
      expect(block.number).toBe(BigInt(index) + 1n);
      expect(block.previousHash).toBe(blocks[index - 1]?.hash ?? GENESIS_HASH);
      expect(block.hash).toBe(blockHash(block));
    }
    const { rows: announced } = await fixture.owner.query<{ payload: { number: string; hash: string } }>(
      `SELECT payload FROM outbox WHERE topic = 'ledger.sealed' AND key = 'ledger' ORDER BY id`,
    );
    expect(announced.map(({ payload }) => payload.hash)).toEqual(blocks.map(({ hash }) => hash));
    expect(logged).toHaveLength(blocks.length);
    expect(await currentHead(fixture.billing)).toEqual(blocks.at(-1));
    expect(await listBlocks(fixture.billing, { before: 3n, limit: 1 })).toEqual([blocks[1]]);
    expect(await blockOf(blocks[1]?.lastId ?? 0n)).toEqual(blocks[1]);
    expect(await verifyChain(fixture.billing)).toMatchObject({ ok: true, blocks: blocks.length });
  });

  it('seals each transaction once, no matter who builds', async () => {
    for (let round = 0; round < 5; round += 1) {
      await suspense();
      await Promise.all(Array.from({ length: 4 }, () => builder(2).seal()));
    }
    const result = await verifyChain(fixture.billing);
    expect(result).toMatchObject({ ok: true, findings: [] });
    await sealAll();
    expect(await builder().seal()).toEqual([]);
  });

  it('never waits for a connection that another builder holds', async () => {
    const pool = openPool({ url: fixture.urlFor('billing'), max: 3, applicationName: 'test-builders' });
    try {
      await suspense();
      const builders = Array.from({ length: 6 }, () => new ChainBuilder({ pool, log }));
      await Promise.all(builders.map((each) => each.seal()));
    } finally {
      await pool.end();
    }
  });

  it('waits for a posting that took an earlier id and commits later', async () => {
    await sealAll();
    const late = await fixture.billing.connect();
    try {
      await late.query('BEGIN');
      const { transactionId } = await bookSuspenseOn(late);
      await suspense();
      await builder().seal();
      expect((await currentHead(fixture.billing))?.lastId).toBeLessThan(transactionId);
      await late.query('COMMIT');
      await sealAll();
      expect(await blockOf(transactionId)).toBeDefined();
    } finally {
      late.release();
    }
    expect(await verifyChain(fixture.billing)).toMatchObject({ ok: true });
  });

  it('leaves nothing of a block if it is killed in the middle', async () => {
    await sealAll();
    const before = await currentHead(fixture.billing);
    const lock = await fixture.owner.connect();
    try {
      await lock.query('BEGIN');
      // The block's row is written by then, its leaves wait for this lock.
      await lock.query('LOCK TABLE ledger_chain_leaves IN SHARE MODE');
      await suspense();
      const killed = expect(sealAll()).rejects.toThrow(/terminat/i);
      await until('the builder waits', async () => {
        const { rows } = await fixture.owner.query<{ killed: boolean }>(
          `SELECT pg_terminate_backend(pid) AS killed FROM pg_stat_activity
           WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE 'INSERT INTO ledger_chain_leaves%'`,
        );
        return rows.length === 1;
      });
      await killed;
    } finally {
      await lock.query('ROLLBACK');
      lock.release();
    }
    expect(await currentHead(fixture.billing)).toEqual(before);
    expect(await sealAll()).toHaveLength(1);
    expect(await verifyChain(fixture.billing)).toMatchObject({ ok: true });
  });

  it('seals every column of the tables', async () => {
    for (const [table, columns] of Object.entries(CHAINED_COLUMNS)) {
      const { rows } = await fixture.owner.query<{ column: string }>(
        `SELECT column_name AS column FROM information_schema.columns WHERE table_schema = 'public' AND table_name = $1`,
        [table],
      );
      expect(rows.map(({ column }) => column).sort()).toEqual([...columns].sort());
    }
  });

  it('can be recomputed from the tables by anyone', async () => {
    const { rows } = await fixture.owner.query<{ id: bigint }>(
      `SELECT transaction_id AS id FROM ledger_entries WHERE model_id IS NOT NULL LIMIT 1`,
    );
    const id = rows[0]?.id ?? 0n;
    const block = await blockOf(id);
    if (!block) throw new Error('It is not sealed.');
    const { rows: before } = await fixture.owner.query<{ lastId: bigint }>(
      'SELECT coalesce(max(last_id), 0) AS "lastId" FROM ledger_chain_blocks WHERE number < $1',
      [block.number],
    );
    const range = `BETWEEN ${(before[0]?.lastId ?? 0n) + 1n} AND ${block.lastId}`;
    const sealed = `SELECT ledger_account_id FROM ledger_chain_accounts WHERE block_number = ${block.number}`;
    const accounts = await lines('ledger_accounts', `WHERE id IN (${sealed}) ORDER BY ledger_accounts.id`);
    const transactions = await lines(
      'ledger_transactions',
      `WHERE id ${range} ORDER BY ledger_transactions.id`,
    );
    const entries = await lines(
      'ledger_entries',
      `WHERE transaction_id ${range} ORDER BY ledger_entries.transaction_id, ledger_entries.ordinal`,
    );
    const sha256 = (text: string | Buffer) => createHash('sha256').update(text).digest();
    const idOf = (line: string) => line.split('\t')[0];
    const hashes = [
      ...accounts.map(sha256),
      ...transactions.map((own) =>
        sha256([own, ...entries.filter((entry) => idOf(entry) === idOf(own))].join('')),
      ),
    ];
    expect(sha256(Buffer.concat(hashes)).toString('hex')).toBe(block.digest);
  });
});

/** Rows as text, each cell by the rules of COPY, but without using COPY. */
async function lines(table: keyof typeof CHAINED_COLUMNS, rest: string): Promise<string[]> {
  return inTransaction(fixture.owner, async (client) => {
    await client.query(`SET LOCAL timezone = 'UTC'`);
    const columns = CHAINED_COLUMNS[table].map((column) => `${column}::text`).join(', ');
    const { rows } = await client.query<(string | null)[]>({
      text: `SELECT ${columns} FROM ${table} ${rest}`,
      rowMode: 'array',
    });
    const escaped = (cell: string) => cell.replace(/\\/g, '\\\\').replace(/\t/g, '\\t').replace(/\n/g, '\\n');
    return rows.map((row) => `${row.map((cell) => (cell === null ? '\\N' : escaped(cell))).join('\t')}\n`);
  });
}

async function bookSuspenseOn(client: pg.ClientBase): Promise<{ transactionId: bigint }> {
  const item = {
    provider: 'stripe' as const,
    reference: newId(),
    orderId: null,
    amountMinor: 5n,
    currency: 'USD',
    why: 'no_order' as const,
  };
  const { itemId } = await bookSuspense(client, item, 'USD');
  const { rows } = await client.query<{ id: bigint }>(
    'SELECT transaction_id AS id FROM suspense_items WHERE id = $1',
    [itemId],
  );
  return { transactionId: rows[0]?.id ?? 0n };
}

const suspense = () => inTransaction(fixture.billing, bookSuspenseOn);

/**
 * Seals until nothing is left. A long transaction anywhere in the cluster, also of another spec, delays the horizon,
 * and anything beyond it waits for a later round.
 */
async function sealAll(blockTransactions?: number): Promise<ChainBlock[]> {
  const blocks: ChainBlock[] = [];
  await until('everything is sealed', async () => {
    blocks.push(...(await builder(blockTransactions).seal()));
    const { rows } = await fixture.owner.query<{ done: boolean }>(
      `SELECT NOT EXISTS (SELECT FROM ledger_transactions WHERE id > coalesce(
         (SELECT max(last_id) FROM ledger_chain_blocks), -9223372036854775808)) AS done`,
    );
    return rows[0]?.done;
  });
  return blocks;
}

/** Plants faults in one transaction, like someone with every right, and rolls back. */
describe('verification', () => {
  let client: pg.PoolClient;
  beforeAll(async () => {
    await suspense();
    await sealAll();
  });
  beforeEach(async () => {
    client = await fixture.owner.connect();
    await client.query('BEGIN');
    await client.query('SET LOCAL session_replication_role = replica');
  });
  afterEach(async () => {
    await client.query('ROLLBACK');
    client.release();
  });

  const verified = (options = {}): Promise<ChainVerification> => verifyChainOn(client, options);
  /** A settled charge in the middle of the chain: its ids, and its reference. */
  async function settled(offset = 0): Promise<{ id: bigint; reference: string }> {
    const { rows } = await client.query<{ id: bigint; reference: string }>(
      `SELECT id, reference FROM ledger_transactions t WHERE kind = 'settle' ORDER BY id OFFSET 2 + $1 LIMIT 1`,
      [offset],
    );
    return rows[0] as { id: bigint; reference: string };
  }
  async function run(sql: string, ...values: unknown[]): Promise<void> {
    const { rowCount } = await client.query(sql, values);
    expect(rowCount).toBeGreaterThan(0);
  }
  const summary = ({ findings }: ChainVerification) =>
    findings.map(({ state, transactionId, reference, message }) => ({
      state,
      transactionId,
      reference,
      message: message.replace(/^[^:]*: /, ''),
    }));

  it('finds nothing in an untouched ledger', async () => {
    expect(await verified()).toMatchObject({ ok: true, findingCount: 0, findings: [] });
  });

  it.each([
    [
      'an amount that was edited in both entries',
      'UPDATE ledger_entries SET amount = amount * 2 WHERE transaction_id = $1 AND ordinal < 2',
      'entry 0 differs, entry 1 differs.',
    ],
    [
      'one entry of a customer, with the balance after it',
      'UPDATE ledger_entries SET balance_after = balance_after + 1 WHERE transaction_id = $1 AND ordinal = 0',
      'entry 0 differs.',
    ],
    [
      'a shifted date',
      `UPDATE ledger_transactions SET effective_at = effective_at - interval '1 day' WHERE id = $1`,
      'its own row differs.',
    ],
    [
      'a time of recording',
      `UPDATE ledger_transactions SET recorded_at = recorded_at - interval '1 microsecond' WHERE id = $1`,
      'its own row differs.',
    ],
    [
      'a removed entry',
      'DELETE FROM ledger_entries WHERE transaction_id = $1 AND ordinal = 1',
      'entry 1 is missing.',
    ],
    [
      'a pair of removed entries',
      'DELETE FROM ledger_entries WHERE transaction_id = $1 AND ordinal < 2',
      'entry 0 is missing, entry 1 is missing.',
    ],
    [
      'swapped entries',
      `UPDATE ledger_entries e SET ledger_account_id = o.ledger_account_id, amount = o.amount, balance_after = o.balance_after,
         model_id = o.model_id, group_name = o.group_name, key_id = o.key_id
       FROM ledger_entries o WHERE e.transaction_id = $1 AND o.transaction_id = $1 AND e.ordinal = 1 - o.ordinal`,
      'entry 0 differs, entry 1 differs.',
    ],
    [
      'an inserted entry',
      `INSERT INTO ledger_entries (transaction_id, ordinal, commodity, ledger_account_id, amount)
       SELECT transaction_id, 7, commodity, ledger_account_id, 1 FROM ledger_entries WHERE transaction_id = $1 AND ordinal = 0`,
      'entry 7 was inserted.',
    ],
    [
      'another model',
      `UPDATE ledger_entries SET model_id = 'imgmodel-lite' WHERE transaction_id = $1 AND model_id IS NOT NULL`,
      'entry 1 differs.',
    ],
  ])('names %s', async (_, sql, message) => {
    const { id, reference } = await settled();
    await run(sql, id);
    expect(summary(await verified())).toEqual([
      { state: 'transaction_changed', transactionId: id, reference, message },
    ]);
  });

  it('names an edited reference', async () => {
    const { id } = await settled();
    await run(`UPDATE ledger_transactions SET reference = 'charge:other:resolve' WHERE id = $1`, id);
    expect(summary(await verified())).toEqual([
      {
        state: 'transaction_changed',
        transactionId: id,
        reference: 'charge:other:resolve',
        message: 'its own row differs.',
      },
    ]);
  });

  it('names a removed transaction, and one with only its entries left', async () => {
    const [whole, half] = [await settled(), await settled(1)];
    await run('DELETE FROM ledger_transactions WHERE id = ANY($1)', [whole.id, half.id]);
    await run('DELETE FROM ledger_entries WHERE transaction_id = $1', whole.id);
    expect(summary(await verified())).toEqual([
      {
        state: 'transaction_missing',
        transactionId: whole.id,
        reference: null,
        message: `Transaction ${whole.id} is missing, with all its entries.`,
      },
      {
        state: 'transaction_changed',
        transactionId: half.id,
        reference: null,
        message: 'its own row is missing.',
      },
    ]);
  });

  it.each([
    ['between others', 1n],
    ['before all others', -1_000_000n],
  ])('names a balanced transaction that was inserted with an old id, %s', async (_, distance) => {
    const { id } = await settled();
    const inserted = id + distance;
    await run(
      `INSERT INTO ledger_transactions SELECT $2, kind, 'topup:forged', account_id, charge_id, linked_id, effective_at, recorded_at
       FROM ledger_transactions WHERE id = $1`,
      id,
      inserted,
    );
    await run(
      `INSERT INTO ledger_entries SELECT $2, ordinal, commodity, ledger_account_id, amount FROM ledger_entries WHERE transaction_id = $1`,
      id,
      inserted,
    );
    expect(summary(await verified())).toEqual([
      {
        state: 'transaction_inserted',
        transactionId: inserted,
        reference: 'topup:forged',
        message: `Transaction ${inserted} was inserted after its block was sealed.`,
      },
    ]);
  });

  it('names a renamed ledger account once, however many entries name it', async () => {
    const { rows } = await client.query<{ id: bigint }>(
      `UPDATE ledger_accounts SET code = 'usage:pictures' WHERE code = 'usage:image' RETURNING id`,
    );
    const { findings } = await verified();
    expect(findings).toMatchObject([{ state: 'account_changed', ledgerAccountId: rows[0]?.id }]);
  });

  it('names ledger accounts that are listed as sealed but were not', async () => {
    await run(`INSERT INTO ledger_accounts (code, commodity, kind) VALUES ('bank:forged', 'CRD', 'asset')`);
    const { id } = await settled();
    await run(
      `UPDATE ledger_entries SET ledger_account_id = (SELECT id FROM ledger_accounts WHERE code = 'bank:forged')
       WHERE transaction_id = $1 AND ordinal = 0`,
      id,
    );
    const { findings } = await verified();
    expect(findings).toMatchObject([{ state: 'transaction_changed' }, { state: 'account_unsealed' }]);
  });

  it.each([
    [
      'edited leaves',
      `UPDATE ledger_chain_leaves SET leaves = set_byte(leaves, 40, 255 - get_byte(leaves, 40)) WHERE block_number = 3`,
    ],
    ['removed leaves', 'DELETE FROM ledger_chain_leaves WHERE block_number = 3'],
    ['invalid leaves', `UPDATE ledger_chain_leaves SET leaves = '\\x01ffffffffff' WHERE block_number = 3`],
  ])('names %s', async (_, sql) => {
    await run(sql);
    const { findings } = await verified();
    expect(findings[0]).toMatchObject({ state: 'leaves_changed', block: 3n });
    expect(findings.every(({ block }) => block === 3n)).toBe(true);
  });

  it.each([
    ['digest', `digest = sha256('x')`],
    ['count', 'entry_count = entry_count + 1'],
    ['last id', 'last_id = last_id + 1'],
    ['time', `sealed_at = sealed_at + interval '1 microsecond'`],
    ['hash', `hash = sha256('x')`],
  ])('names a block whose %s was edited', async (_, change) => {
    await run(`UPDATE ledger_chain_blocks SET ${change} WHERE number = 3`);
    const { findings } = await verified();
    expect(findings[0]).toMatchObject({ state: 'block_changed', block: 3n });
    expect(new Set(findings.map(({ state }) => state))).toEqual(new Set(['block_changed']));
  });

  it('detects by the next block that one was rewritten over changed rows', async () => {
    const blocks = await listBlocks(client, { before: null, limit: 1_000 });
    const third = blocks.find(({ number }) => number === 3n);
    if (!third) throw new Error('There is no third block.');
    const forged = { ...third, digest: 'ab'.repeat(32) };
    await run(
      `UPDATE ledger_chain_blocks SET digest = decode($1, 'hex'), hash = decode($2, 'hex') WHERE number = 3`,
      forged.digest,
      blockHash(forged),
    );
    const { findings } = await verified({ expectedHead: third.hash });
    expect(findings).toMatchObject([
      { state: 'block_rows_changed', block: 3n },
      { state: 'block_changed', block: 4n },
      { state: 'head_missing' },
    ]);
  });

  it('names a block that was removed', async () => {
    await run('DELETE FROM ledger_chain_leaves WHERE block_number = 3');
    await run('DELETE FROM ledger_chain_blocks WHERE number = 3');
    expect((await verified()).findings).toMatchObject([{ state: 'block_missing', block: 3n }]);
  });

  it('detects with a stored hash that the last block was cut off with its rows', async () => {
    const head = await currentHead(client);
    if (!head) throw new Error('There is no block.');
    for (const table of ['leaves', 'accounts'])
      await client.query(`DELETE FROM ledger_chain_${table} WHERE block_number = $1`, [head.number]);
    await run('DELETE FROM ledger_chain_blocks WHERE number = $1', head.number);
    await run('DELETE FROM ledger_entries WHERE transaction_id >= $1', head.firstId);
    await run('DELETE FROM ledger_transactions WHERE id >= $1', head.firstId);
    expect(await verified()).toMatchObject({ ok: true });
    expect((await verified({ expectedHead: head.hash })).findings).toMatchObject([{ state: 'head_missing' }]);
  });

  it('keeps no connection if it gets only one of two', async () => {
    const url = fixture.urlFor('billing');
    const pool = openPool({ url, max: 1, connectTimeoutMs: 1_000, applicationName: 'test' });
    await expect(verifyChain(pool)).rejects.toThrow('timeout');
    expect([pool.totalCount, pool.idleCount]).toEqual([1, 1]);
    await pool.end();
  });

  it('reads only the requested blocks', async () => {
    const { id } = await settled();
    const block = await blockOf(id, client);
    if (!block) throw new Error('It is not sealed.');
    await run('UPDATE ledger_entries SET amount = amount * 2 WHERE transaction_id = $1', id);
    expect(await verified({ from: block.number + 1n })).toMatchObject({ ok: true });
    expect(await verified({ to: block.number - 1n })).toMatchObject({ ok: true });
    expect(await verified({ from: block.number, to: block.number })).toMatchObject({ ok: false, blocks: 1 });
  });
});

describe('the tables of the chain', () => {
  it.each(['blocks', 'leaves', 'accounts'])('%s are append-only to every role', async (table) => {
    for (const pool of [fixture.owner, fixture.billing])
      await expect(pool.query(`DELETE FROM ledger_chain_${table}`)).rejects.toThrow(
        /append-only|permission denied/,
      );
  });
});
