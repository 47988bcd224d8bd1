import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '#platform/ids.js';
import { createLedgerFixture, type LedgerFixture } from '../../../test/support/ledger.js';
import { pagesRead } from '../../../test/support/pages-read.js';
import { readAccountStates } from './account-state.js';

const KEYS = 5_000;

let ledger: LedgerFixture;

beforeAll(async () => {
  ledger = await createLedgerFixture();
});
afterAll(() => ledger?.close());

it('finds running tasks without looking at each key of the account', async () => {
  const { accountId, keyId } = await ledger.account({ credits: '1' });
  await ledger.owner.query(
    `INSERT INTO api_keys (id, account_id, name, key_hash, group_name, revoked_at)
     SELECT $1 || '-' || n, $1, 'earlier', sha256(n::text::bytea), 'Vendora-Main', now() FROM generate_series(1, $2::int) AS n`,
    [accountId, KEYS],
  );
  const taskId = newId();
  await ledger.owner.query(
    `INSERT INTO tasks (id, kind, account_id, key_id, charge_id, dialect, state, model_id, requested_model, request, seconds, deadline,
       group_name)
     VALUES ($1, 'video', $2, $3, $1, 'openai', 'submitted', 'vidmodel-3', 'vidmodel-3', '{"prompt": "a boat"}', 5, now(), 'Vendora-Main')`,
    [taskId, accountId, keyId],
  );
  await ledger.owner.query('ANALYZE api_keys, tasks');
  const read = pagesRead(ledger.billing, async (pool) => {
    const states = await readAccountStates(pool, [{ accountId, running: [] }], Date.now());
    expect(states.get(accountId)?.tasks.map(({ id }) => id)).toEqual([taskId]);
  });
  expect(await read).toBeLessThan(40);
});
