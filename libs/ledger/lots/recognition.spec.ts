import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type pg from 'pg';
import { inTransaction, openPool } from '#database/database.js';
import { LedgerLife } from '../../../test/support/ledger-life.js';
import { until } from '../../../test/support/eventually.js';
import { createLedgerFixture, type LedgerFixture } from '../../../test/support/ledger.js';
import { checkLedger } from '../checks/ledger-check.js';
import { deferredCheck, lotChecks } from '../checks/lot-check.js';
import { markHorizon } from '../postings/horizon.js';
import { steadyPlans } from './range-moves.js';
import { advanceLots, readLots } from './lots.js';
import { lockBalance } from '../postings/posting.js';
import { recogniseAll, recogniseNext, recognitionProgress, retryStuck } from './recognition.js';

let fixture: LedgerFixture;
let life: LedgerLife;

beforeAll(async () => {
  fixture = await createLedgerFixture();
  life = new LedgerLife(fixture);
});
afterAll(async () => {
  await life?.close();
  await fixture?.close();
});

/** A customer who paid 13 for 10 credits and used 0.09 of them, in one row. */
async function customerWithUses(uses = 3): Promise<{ accountId: string; keyId: string }> {
  const customer = await fixture.account({ credits: '10' });
  for (let n = 0; n < uses; n += 1) await life.charge(customer, { units: 1n, delivered: 1n });
  return customer;
}

async function usesOf(accountId: string): Promise<unknown[]> {
  const { rows } = await fixture.billing.query(
    `SELECT purpose, credits, minor, last_use_id > first_use_id AS several, recognition_id IS NOT NULL AS posted
     FROM lot_uses WHERE account_id = $1 ORDER BY id`,
    [accountId],
  );
  return rows;
}

/** The test data leaves suspense behind that nobody recorded. */
async function expectClean(): Promise<void> {
  const { violations } = await checkLedger(fixture.billing, { graceMs: 0 });
  const own = new Set([...lotChecks, deferredCheck].map(({ message }) => message));
  expect(violations.filter(({ message }) => own.has(message))).toEqual([]);
}

/**
 * Recognises everything that was posted. An open transaction of another spec on the same server may delay it for a
 * moment.
 */
async function recogniseEverything(): Promise<void> {
  const { rows } = await fixture.billing.query<{ last: bigint }>(
    `SELECT max(id) AS last FROM ledger_transactions WHERE kind <> 'recognition'`,
  );
  await until('recognition to reach the last posting', async () => {
    await recogniseAll(fixture.billing);
    return (await recognitionProgress(fixture.billing)).throughId >= rows[0]!.last;
  });
}

const advance = (accountId: string): Promise<void> =>
  inTransaction(fixture.billing, async (client) => advanceLots(client, await lockBalance(client, accountId)));

describe('recognition', () => {
  it('recognises the payment for used credits, once', async () => {
    const { accountId } = await customerWithUses();
    await recogniseEverything();
    const once = [{ purpose: 'image', credits: 90_000_000n, minor: 11n, several: true, posted: true }];
    expect(await usesOf(accountId)).toEqual(once);
    await recogniseEverything();
    await advance(accountId);
    expect(await usesOf(accountId)).toEqual(once);
    await expectClean();
  });

  it('reaches the last posting, and says so', async () => {
    await customerWithUses(1);
    await recogniseEverything();
    const { rows } = await fixture.billing.query<{ id: bigint; at: Date }>(
      `SELECT max(id) AS id, max(recorded_at) AS at FROM ledger_transactions WHERE kind <> 'recognition'`,
    );
    const { throughId, at } = await recognitionProgress(fixture.billing);
    expect(throughId >= rows[0]!.id).toBe(true);
    expect(Date.parse(at)).toBeGreaterThanOrEqual(rows[0]!.at.getTime());
  });

  it('gives the same result in small chunks, by several recognisers and by single accounts at once', async () => {
    const customers = await Promise.all([1, 2, 3, 4].map((uses) => customerWithUses(uses)));
    const recognisers = [1, 2, 3].map(async () => {
      while (!(await recogniseNext(fixture.billing, 3))?.caughtUp);
    });
    const singly = customers.map(({ accountId }) => advance(accountId));
    await Promise.all([...recognisers, ...singly]);
    for (const [index, { accountId }] of customers.entries()) {
      const uses = (await usesOf(accountId)) as { credits: bigint; minor: bigint }[];
      const credits = uses.reduce((sum, use) => sum + use.credits, 0n);
      expect(credits).toBe(BigInt(index + 1) * 30_000_000n);
      expect(uses.reduce((sum, use) => sum + use.minor, 0n)).toBe((1300n * credits) / 10_000_000_000n);
    }
    await expectClean();
  });

  /** Runs `work` while an account's cursor is locked, as during its refund. */
  async function whileLocked(accountId: string, work: () => Promise<void>): Promise<void> {
    const client = await fixture.owner.connect();
    try {
      await client.query('BEGIN');
      await client.query('INSERT INTO lot_cursors (account_id, through_id) VALUES ($1, 0)', [accountId]);
      await client.query('COMMIT');
      // What was posted is final by then. The lock would delay that.
      await markHorizon(fixture.billing);
      await client.query('BEGIN');
      await client.query('SELECT FROM lot_cursors WHERE account_id = $1 FOR UPDATE', [accountId]);
      await work();
    } finally {
      await client.query('ROLLBACK');
      client.release();
    }
  }

  it('waits for a locked account without locks of its own, and reports progress once everything is written', async () => {
    const held = await customerWithUses();
    const free = await customerWithUses();
    const before = await recognitionProgress(fixture.billing);
    let recognised = Promise.resolve<unknown>(null);
    await whileLocked(held.accountId, async () => {
      recognised = recogniseNext(fixture.billing);
      await until('the other account is written', async () => (await usesOf(free.accountId)).length === 1);
      await advance(free.accountId);
      expect(await recognitionProgress(fixture.billing)).toEqual(before);
    });
    await recognised;
    expect(await usesOf(held.accountId)).toHaveLength(1);
    await recogniseEverything();
    await expectClean();
  });

  it('continues where one killed in the middle of a chunk had stopped', async () => {
    const held = await customerWithUses();
    const free = await customerWithUses();
    await whileLocked(held.accountId, async () => {
      const killed = expect(recogniseNext(fixture.billing)).rejects.toThrow(/terminat/i);
      await until('it waits for the account', async () => {
        const { rowCount } = await fixture.owner.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
           WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%lot_cursors%FOR UPDATE%'`,
        );
        return rowCount === 1;
      });
      await killed;
    });
    await life.charge(free, { units: 1n, delivered: 1n });
    await recogniseEverything();
    const uses = (await usesOf(free.accountId)) as { credits: bigint }[];
    expect(uses.map(({ credits }) => credits)).toEqual([90_000_000n, 30_000_000n]);
    expect(await usesOf(held.accountId)).toHaveLength(1);
    await expectClean();
  });

  it('leaves nothing behind if it fails, and succeeds the next time', async () => {
    const { accountId } = await customerWithUses();
    const before = await recognitionProgress(fixture.billing);
    await fixture.owner.query(
      `CREATE FUNCTION not_now() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN RAISE 'not now' USING ERRCODE = 'admin_shutdown'; END $$;
       CREATE TRIGGER not_now BEFORE UPDATE ON lot_cursors FOR EACH ROW EXECUTE FUNCTION not_now()`,
    );
    await expect(recogniseNext(fixture.billing)).rejects.toThrow(/not now/);
    await fixture.owner.query('DROP TRIGGER not_now ON lot_cursors');
    expect(await recognitionProgress(fixture.billing)).toEqual(before);
    expect(await usesOf(accountId)).toEqual([]);
    await recogniseEverything();
    expect(await usesOf(accountId)).toHaveLength(1);
    await expectClean();
  });

  it('leaves an account that cannot be written where it is, for whatever reason, and continues with the others', async () => {
    const broken = await customerWithUses();
    const sound = [await customerWithUses(), await customerWithUses()];
    await fixture.owner.query(
      `ALTER TABLE lot_uses ADD CONSTRAINT not_this_one CHECK (account_id <> '${broken.accountId}') NOT VALID`,
    );
    await recogniseEverything();
    for (const { accountId } of sound) expect(await usesOf(accountId)).toHaveLength(1);
    expect(await usesOf(broken.accountId)).toEqual([]);
    const { violations } = await checkLedger(fixture.billing, { graceMs: 0 });
    expect(violations.flatMap((violation) => violation.rows)).toContainEqual(
      expect.objectContaining({
        account_id: broken.accountId,
        reason: expect.stringContaining('not_this_one'),
      }),
    );
    expect(await retryStuck(fixture.billing)).toBe(0);
    await fixture.owner.query('ALTER TABLE lot_uses DROP CONSTRAINT not_this_one');
    expect(await retryStuck(fixture.billing)).toBe(1);
    expect(await usesOf(broken.accountId)).toHaveLength(1);
    await expectClean();
  });

  it('tries them all again, though more than a round retries stay where they are', async () => {
    const ids: string[] = [];
    const allowAll = 'ALTER TABLE lot_uses DROP CONSTRAINT IF EXISTS not_these';
    const refuseThem = () =>
      fixture.owner.query(
        `${allowAll}; ALTER TABLE lot_uses ADD CONSTRAINT not_these CHECK (account_id NOT IN (${ids.join()})) NOT VALID`,
      );
    // More that fail at once would be taken for a fault of something else.
    for (let round = 0; round < 2; round += 1) {
      for (let n = 0; n < 11; n += 1) ids.push(`'${(await customerWithUses(1)).accountId}'`);
      await refuseThem();
      await recogniseEverything();
    }
    const corrected = ids.pop()!;
    await refuseThem();
    await until('the corrected one', async () => (await retryStuck(fixture.billing)) === 1);
    expect(await usesOf(corrected.slice(1, -1))).toHaveLength(1);
    await fixture.owner.query(allowAll);
    expect(await retryStuck(fixture.billing)).toBe(20);
    expect(await retryStuck(fixture.billing)).toBe(1);
    await expectClean();
  });

  it('skips nothing if a slow recogniser comes to an account that another one left as stuck a chunk ago', async () => {
    const broken = await customerWithUses();
    await markHorizon(fixture.billing);
    const pools = ['slow', 'failing'].map((applicationName) =>
      openPool({ url: fixture.urlFor('billing'), max: 2, applicationName }),
    );
    const [slow, failing] = pools as [pg.Pool, pg.Pool];
    await fixture.owner.query(
      `CREATE FUNCTION hold_slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
         IF current_setting('application_name') = 'slow' THEN PERFORM pg_advisory_xact_lock(77); END IF;
         RETURN NEW; END $$;
       CREATE TRIGGER hold_slow BEFORE INSERT ON lot_cursors FOR EACH ROW EXECUTE FUNCTION hold_slow();
       CREATE FUNCTION fail_here() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
         IF current_setting('application_name') = 'failing' THEN RAISE 'fails here'; END IF;
         RETURN NEW; END $$;
       CREATE TRIGGER fail_here BEFORE INSERT ON lot_uses FOR EACH ROW EXECUTE FUNCTION fail_here()`,
    );
    const lock = await fixture.owner.connect();
    try {
      await lock.query('SELECT pg_advisory_lock(77)');
      const chunk = recogniseNext(slow);
      await until('the slow one has planned the chunk', async () => {
        const { rowCount } = await fixture.owner.query(
          `SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = 77 AND NOT granted`,
        );
        return rowCount === 1;
      });
      await recogniseNext(failing);
      await life.charge(broken, { units: 1n, delivered: 1n });
      await recogniseAll(fixture.billing);
      await lock.query('SELECT pg_advisory_unlock(77)');
      await chunk;
    } finally {
      lock.release();
      await Promise.all(pools.map((pool) => pool.end()));
      await fixture.owner.query('DROP FUNCTION hold_slow, fail_here CASCADE');
    }
    expect(await retryStuck(fixture.billing)).toBe(1);
    await recogniseEverything();
    const uses = (await usesOf(broken.accountId)) as { credits: bigint }[];
    expect(uses.reduce((sum, { credits }) => sum + credits, 0n)).toBe(120_000_000n);
    await expectClean();
  });

  it('needs no statistics about the ledger to read a range of it by its keys', async () => {
    await recogniseEverything();
    await inTransaction(fixture.billing, async (client) => {
      await steadyPlans(client);
      const { rows } = await client.query<{ 'QUERY PLAN': string }>(
        `EXPLAIN SELECT * FROM ledger_entries WHERE transaction_id > 10 AND transaction_id <= 20 ORDER BY transaction_id, ordinal`,
      );
      expect(rows[0]?.['QUERY PLAN']).toMatch(/^Index Scan using ledger_entries_pkey/);
    });
  });

  it('leaves a contradictory account where it is until it is corrected, and continues with the others', async () => {
    const broken = await customerWithUses();
    const sound = await customerWithUses();
    const { rows } = await fixture.owner.query<{ id: bigint }>(
      `INSERT INTO credit_lot_changes (lot_id, transaction_id, kind, credits, paid_minor)
       SELECT l.id, l.transaction_id, 'refund', -credits - 1, 0 FROM credit_lots l WHERE account_id = $1 RETURNING id`,
      [broken.accountId],
    );
    await recogniseEverything();
    expect(await usesOf(sound.accountId)).toHaveLength(1);
    expect(await usesOf(broken.accountId)).toEqual([]);
    const { violations } = await checkLedger(fixture.billing, { graceMs: 0 });
    expect(violations.flatMap((violation) => violation.rows)).toContainEqual(
      expect.objectContaining({ account_id: broken.accountId, reason: expect.stringContaining('lot') }),
    );
    expect(await retryStuck(fixture.billing)).toBe(0);

    await fixture.owner.query('ALTER TABLE credit_lot_changes DISABLE TRIGGER append_only');
    await fixture.owner.query('DELETE FROM credit_lot_changes WHERE id = $1', [rows[0]!.id]);
    await fixture.owner.query('ALTER TABLE credit_lot_changes ENABLE TRIGGER append_only');
    expect(await retryStuck(fixture.billing)).toBe(1);
    expect(await usesOf(broken.accountId)).toHaveLength(1);
    await expectClean();
  });

  it('returns exactly what one of several combined charges took', async () => {
    const { accountId } = await customerWithUses();
    await recogniseEverything();
    await life.everything();
    await recogniseEverything();
    const { lots } = await inTransaction(fixture.billing, async (client) =>
      readLots(client, await lockBalance(client, accountId)),
    );
    expect(lots).toMatchObject([{ used: 90_000_000n, recognisedMinor: 11n }]);
    await expectClean();
  });

  it('posts once per UTC day, at the time of the last use', async () => {
    const { accountId } = await customerWithUses(2);
    const { rows } = await fixture.owner.query<{ id: bigint }>(
      `SELECT id FROM ledger_transactions WHERE account_id = $1 AND kind = 'settle' ORDER BY id`,
      [accountId],
    );
    const earlier = new Date(Date.now() - 2 * 86_400_000);
    await fixture.owner.query('ALTER TABLE ledger_transactions DISABLE TRIGGER append_only');
    await fixture.owner.query('UPDATE ledger_transactions SET effective_at = $2 WHERE id = $1', [
      rows[0]!.id,
      earlier,
    ]);
    await fixture.owner.query('ALTER TABLE ledger_transactions ENABLE TRIGGER append_only');
    await recogniseEverything();
    const posted = await fixture.billing.query<{ minor: bigint; at: Date }>(
      `SELECT u.minor, t.effective_at AS at FROM lot_uses u JOIN ledger_transactions t ON t.id = u.recognition_id
       WHERE u.account_id = $1 ORDER BY u.id`,
      [accountId],
    );
    expect(posted.rows).toMatchObject([{ minor: 3n, at: earlier }, { minor: 4n }]);
    await expectClean();
  });
});
