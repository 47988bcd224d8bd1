import { afterAll, beforeAll, expect, it } from 'vitest';
import { inTransaction } from '#database/database.js';
import { createLedgerFixture, type LedgerFixture } from '../../test/support/ledger.js';
import { KeyUse } from './key-use.js';

const USED_AT = new Date('2026-01-31T12:00:00Z');

let ledger: LedgerFixture;
beforeAll(async () => {
  ledger = await createLedgerFixture();
});
afterAll(() => ledger.close());

async function newKey(): Promise<string> {
  return (await ledger.account({ credits: '0' })).keyId;
}

/** Stopping it writes once. */
function keyUse(): KeyUse {
  const { billing: pool, log } = ledger;
  return new KeyUse({
    pool,
    log,
    clock: { nowMs: () => USED_AT.getTime(), elapsedMs: () => 0 },
    intervalMs: 60_000,
  });
}

async function lastUseOf(keyId: string): Promise<Date | null> {
  const { rows } = await ledger.owner.query<{ at: Date | null }>(
    'SELECT last_used_at AS at FROM api_keys WHERE id = $1',
    [keyId],
  );
  return rows[0]!.at;
}

it('writes the use of a key that someone is changing the next time', async () => {
  const [changed, other] = [await newKey(), await newKey()];
  const use = keyUse();
  for (const keyId of [changed, other, 'of-nobody']) use.note(keyId);
  await inTransaction(ledger.owner, async (client) => {
    await client.query('SELECT FROM api_keys WHERE id = $1 FOR UPDATE', [changed]);
    await use.stop();
  });
  expect([await lastUseOf(other), await lastUseOf(changed)]).toEqual([USED_AT, null]);
  await use.stop();
  expect(await lastUseOf(changed)).toEqual(USED_AT);
});

it('writes the next time what could not be written', async () => {
  const keyId = await newKey();
  const use = keyUse();
  use.note(keyId);
  await ledger.owner.query('ALTER TABLE api_keys RENAME TO keys_away');
  await use.stop();
  await ledger.owner.query('ALTER TABLE keys_away RENAME TO api_keys');
  expect(await lastUseOf(keyId)).toBeNull();
  await use.stop();
  expect(await lastUseOf(keyId)).toEqual(USED_AT);
});
