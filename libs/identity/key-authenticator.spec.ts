import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type pg from 'pg';
import { openPool } from '#database/database.js';
import { ManualClock } from '#platform/clock.fixture.js';
import { createLedgerFixture, type LedgerFixture } from '../../test/support/ledger.js';
import { KeyAuthenticator } from './key-authenticator.js';

const LIFE_MS = 10_000;

describe('KeyAuthenticator', () => {
  let fixture: LedgerFixture;
  let pool: pg.Pool;
  let clock: ManualClock;
  let keys: KeyAuthenticator;
  let key: { accountId: string; keyId: string; apiKey: string };

  beforeAll(async () => {
    fixture = await createLedgerFixture();
    pool = openPool({ url: fixture.urlFor('gateway'), max: 2, applicationName: 'test-gateway' });
  });
  afterAll(async () => {
    await pool.end();
    await fixture.close();
  });
  beforeEach(async () => {
    clock = new ManualClock(Date.now());
    keys = new KeyAuthenticator(pool, clock, { lifeMs: LIFE_MS });
    key = await fixture.account({ credits: '0' });
  });

  const authenticate = () => keys.authenticate(`Bearer ${key.apiKey}`);

  it('knows the account and the group of a key', async () => {
    expect(await authenticate()).toEqual({
      keyId: key.keyId,
      accountId: key.accountId,
      group: 'Vendora-Main',
    });
  });

  it.each([
    ['no header', undefined],
    ['an empty header', ' '],
    ['another scheme', 'Basic dXNlcjpwYXNz'],
    ['no key', 'Bearer '],
    ['an unknown key', `Bearer sk-tg-${'x'.repeat(43)}`],
    ['something that is no key of ours', 'Bearer sk-proj-abc'],
    ['two keys', `Bearer sk-tg-${'x'.repeat(43)} sk-tg-${'y'.repeat(43)}`],
    ['a long run of schemes', 'bearer '.repeat(2000)],
  ])('refuses %s', async (_what, header) => {
    await expect(keys.authenticate(header)).rejects.toMatchObject({ code: 'invalid_api_key', status: 401 });
  });

  it('accepts the scheme in any case, and twice', async () => {
    for (const scheme of ['bearer', 'BEARER', 'Bearer Bearer', '']) {
      expect((await keys.authenticate(`${scheme} ${key.apiKey}`)).keyId).toBe(key.keyId);
    }
  });

  it('caches a key only for its lifetime, although the clock is set back', async () => {
    await authenticate();
    await fixture.revoke(key.keyId);
    clock.advance(LIFE_MS - 1);
    clock.jump(-3_600_000);
    expect((await authenticate()).keyId).toBe(key.keyId);
    clock.advance(1);
    await expect(authenticate()).rejects.toMatchObject({ code: 'invalid_api_key' });
  });

  it('forgets one key or all on request', async () => {
    await authenticate();
    await fixture.revoke(key.keyId);
    keys.drop('another key');
    expect((await authenticate()).keyId).toBe(key.keyId);
    keys.drop(key.keyId);
    await expect(authenticate()).rejects.toMatchObject({ code: 'invalid_api_key' });

    const other = await fixture.account({ credits: '0' });
    await keys.authenticate(`Bearer ${other.apiKey}`);
    await fixture.revoke(other.keyId);
    keys.drop();
    await expect(keys.authenticate(`Bearer ${other.apiKey}`)).rejects.toMatchObject({
      code: 'invalid_api_key',
    });
  });

  it('does not cache the result of a lookup that began before the key changed', async () => {
    const early = authenticate();
    keys.drop(key.keyId);
    await early;
    await fixture.revoke(key.keyId);
    await expect(authenticate()).rejects.toMatchObject({ code: 'invalid_api_key' });
  });

  it('stops accepting a key at its expiry even if it is cached', async () => {
    await fixture.owner.query(`UPDATE api_keys SET expires_at = to_timestamp($2 / 1000.0) WHERE id = $1`, [
      key.keyId,
      clock.nowMs() + 500,
    ]);
    expect((await authenticate()).keyId).toBe(key.keyId);
    clock.advance(500);
    await expect(authenticate()).rejects.toMatchObject({ code: 'invalid_api_key' });
  });
});
