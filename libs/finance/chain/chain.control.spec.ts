import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type pg from 'pg';
import { inTransaction } from '#database/database.js';
import { ChainBuilder } from '#ledger/chain/chain.js';
import { bookSuspense } from '#ledger/postings/suspense.js';
import { newId } from '#platform/ids.js';
import { until } from '../../../test/support/eventually.js';
import { createLedgerFixture, type LedgerFixture } from '../../../test/support/ledger.js';
import { unsaid } from '../../../test/support/finding-words.js';
import { listFindings } from '../findings.js';
import { reconcile } from '../reconciler.js';
import { chainControl } from './chain.control.js';

const BLOCKS = 90;
const OPTIONS = { graceMs: 60_000, limitMs: 60_000, keepMs: 3_600_000, askedBy: 'system' };

let fixture: LedgerFixture;
let pool: pg.Pool;

beforeAll(async () => {
  fixture = await createLedgerFixture();
  pool = fixture.billing;
  for (let count = 0; count < BLOCKS; count += 1) {
    const item = { provider: 'stripe' as const, orderId: null, amountMinor: 1n, currency: 'USD' };
    await inTransaction(pool, (client) =>
      bookSuspense(client, { ...item, reference: newId(), why: 'no_order', happenedAt: null }, 'USD'),
    );
  }
  const builder = new ChainBuilder({ pool, log: { info: () => undefined }, blockTransactions: 1 });
  let sealed = 0;
  // A long transaction of another spec in the cluster delays the horizon.
  await until('everything is sealed', async () => (sealed += (await builder.seal()).length) === BLOCKS);
});
afterAll(() => fixture?.close());

async function round(): Promise<{ count: number; open: string[] }> {
  const done = await reconcile(pool, [chainControl], OPTIONS);
  const { result, error } = done!.outcomes[0]!;
  expect(error).toBeNull();
  expect(result!.items.flatMap((item) => unsaid(chainControl, item))).toEqual([]);
  const page = { control: 'chain', state: 'open', limit: 200, after: null } as const;
  return {
    count: result!.count,
    open: (await listFindings(pool, page)).map(({ subject }) => subject),
  };
}

async function remove(block: number): Promise<void> {
  const tables = ['ledger_chain_leaves', 'ledger_chain_accounts', 'ledger_chain_blocks'];
  for (const table of tables) await fixture.owner.query(`ALTER TABLE ${table} DISABLE TRIGGER USER`);
  await fixture.owner.query('DELETE FROM ledger_chain_leaves WHERE block_number = $1', [block]);
  await fixture.owner.query('DELETE FROM ledger_chain_blocks WHERE number = $1', [block]);
  for (const table of tables) await fixture.owner.query(`ALTER TABLE ${table} ENABLE TRIGGER USER`);
}

describe('findings of the chain', () => {
  it('end once their block was checked again, and not before; the block unchecked for longest comes first', async () => {
    await fixture.owner.query(
      `INSERT INTO control_findings (control, subject, state, message, details, transaction_ids, first_seen_at, last_seen_at)
       SELECT 'chain', 'transaction:' || n, 'entry_changed', 'It was mended.', jsonb_build_object('block', n::text), '{}',
         now() - interval '1 day', now() - n * interval '1 minute' FROM generate_series(1, 65) AS n`,
    );
    const first = await round();
    expect(first.count).toBe(first.open.length);
    // Findings of the blocks that are checked in turn may be among them.
    expect(first.open.length).toBeGreaterThanOrEqual(25);
    expect(first.open.length).toBeLessThanOrEqual(45);
    expect(first.open.filter((subject) => Number(subject.split(':')[1]) > 45)).toEqual([]);
    const second = await round();
    expect(second.open.length).toBeLessThanOrEqual(25);
    expect(second.count).toBe(second.open.length);
    await round();
    expect((await round()).open).toEqual([]);
  });

  it('stay while a block is missing, even if nothing else checks it', async () => {
    await remove(88);
    expect((await round()).open).toContain('block:88');
    await remove(30);
    await fixture.owner.query(
      `INSERT INTO control_findings (control, subject, state, message, details, transaction_ids, first_seen_at, last_seen_at)
       VALUES ('chain', 'block:30', 'block_missing', 'Block 30 is missing.', '{"block": "30"}', '{}', now(), now())`,
    );
    for (let count = 0; count < 2; count += 1) {
      expect(await round()).toEqual({ count: 2, open: ['block:30', 'block:88'] });
    }
  });
});
