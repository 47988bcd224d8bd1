import { afterAll, beforeAll, expect, it } from 'vitest';
import { chargeIdOf } from '#ledger/charges/charge-ids.js';
import { newId } from '#platform/ids.js';
import { createLedgerFixture, type LedgerFixture } from '../../test/support/ledger.js';
import { findRequests } from './request-finder.js';

let fixture: LedgerFixture;

beforeAll(async () => {
  fixture = await createLedgerFixture();
});
afterAll(() => fixture?.close());

type Owner = { accountId: string; keyId: string };

async function charge({ accountId, keyId }: Owner, id: string): Promise<void> {
  await fixture.owner.query(
    `INSERT INTO charges (id, account_id, key_id, model_id, state, amount) VALUES ($1, $2, $3, 'imgmodel-4', 'held', 10)`,
    [id, accountId, keyId],
  );
}

async function task({ accountId, keyId }: Owner, of: { id: string; chargeId: string; upstreamId: string }) {
  await fixture.owner.query(
    `INSERT INTO tasks (id, kind, account_id, key_id, charge_id, dialect, state, model_id, requested_model, request, seconds,
       upstream_id, deadline, group_name)
     VALUES ($1, 'video', $2, $3, $4, 'openai', 'submitted', 'imgmodel-4', 'imgmodel-4', '{}', 4, $5, now(), 'Vendora-Main')`,
    [of.id, accountId, keyId, of.chargeId, of.upstreamId],
  );
}

it('finds requests by each ID that they have, of one account or any', async () => {
  const owner = await fixture.account({ credits: '1' });
  const stranger = await fixture.account({ credits: '1' });
  const [requestId, other, taskId] = [newId(), newId(), newId()];
  const retried = chargeIdOf(requestId, 1);
  const upstreamId = 'operations/video-7';
  for (const id of [requestId, retried]) await charge(owner, id);
  await charge(stranger, other);
  await task(owner, { id: taskId, chargeId: retried, upstreamId });
  await task(stranger, { id: newId(), chargeId: other, upstreamId });
  const found = async (id: string, accountId: string | null = owner.accountId) =>
    (await findRequests(fixture.billing, id, accountId)).map(({ chargeId }) => chargeId).sort();
  expect(await found(requestId)).toEqual([requestId, retried].sort());
  expect(await found(retried)).toEqual([retried]);
  expect(await found(taskId)).toEqual([retried]);
  expect(await found(upstreamId)).toEqual([retried]);
  expect(await found(other)).toEqual([]);
  expect(await found(taskId, stranger.accountId)).toEqual([]);
  expect(await found(upstreamId, null)).toEqual([retried, other].sort());
  const [{ accountId } = { accountId: null }] = await findRequests(fixture.billing, other, null);
  expect(accountId).toBe(stranger.accountId);
});
