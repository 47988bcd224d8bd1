import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { inTransaction } from '#database/database.js';
import { ConfigReader } from '#platform/config.js';
import { newWebhookSecret } from '#platform/http/webhook-signature.js';
import { newId } from '#platform/ids.js';
import { createLedgerFixture, type LedgerFixture } from '../../test/support/ledger.js';
import { race } from '../../test/support/race.js';
import { DeliveryLog } from './delivery.log.js';
import { DeliveryQueue, switchOff } from './delivery.queue.js';
import type { DueDelivery } from './due-deliveries.js';
import { readWebhooksConfig } from './webhooks.config.js';

const config = readWebhooksConfig(new ConfigReader({}));

let ledger: LedgerFixture;
let log: DeliveryLog;
let queue: DeliveryQueue;
let of: { accountId: string; endpointId: string };

beforeAll(async () => {
  ledger = await createLedgerFixture();
  log = new DeliveryLog(ledger.billing, config);
  queue = new DeliveryQueue(ledger.billing, config);
});
afterAll(() => ledger.close());
beforeEach(async () => {
  const { accountId } = await ledger.account({ credits: '0' });
  of = { accountId, endpointId: newId() };
  await ledger.billing.query(
    `INSERT INTO webhook_endpoints (id, account_id, url, events, secret, created_at)
     VALUES ($1, $2, 'https://example.com/hook', '{topup.credited}', $3, now() - interval '1 minute')`,
    [of.endpointId, accountId, newWebhookSecret()],
  );
});

afterEach(disable);

/** Queues this many events of the account. Returns their deliveries, under a lease. */
async function claimed(count: number): Promise<DueDelivery[]> {
  const at = new Date().toISOString();
  const { accountId } = of;
  await queue.add(
    Array.from({ length: count }, () => ({
      id: newId(),
      type: 'topup.credited' as const,
      accountId,
      at,
      data: {},
    })),
  );
  return queue.claim({ further: count, perAccount: count, perEndpoint: count }, []);
}

const attempt = (status: number) => {
  return { startedAt: new Date(), durationMs: 5, status, error: null, answer: 'the answer' };
};

/** One failed delivery and one that arrived. */
async function ended(): Promise<{ failed: string; delivered: string }> {
  const [one, two] = (await claimed(2)) as [DueDelivery, DueDelivery];
  await queue.failed(one, attempt(500), config.giveUpMs * 2);
  await queue.succeeded(two, attempt(204));
  return { failed: one.id, delivered: two.id };
}

async function statesOf(): Promise<Record<string, string>> {
  const { items } = await log.list(of, { limit: 100 });
  return Object.fromEntries(items.map(({ id, state }) => [id, state]));
}

/** Also ends what is still to be sent. */
async function disable(): Promise<void> {
  await inTransaction(ledger.billing, (client) => switchOff(client, of.endpointId, 'owner'));
}

describe('the delivery log', () => {
  it('lists them in pages and by state, and shows one with its body and attempts', async () => {
    const { failed, delivered } = await ended();
    const first = await log.list(of, { limit: 1 });
    const second = await log.list(of, { limit: 1, cursor: first.nextCursor! });
    expect([...first.items, ...second.items].map(({ id }) => id).sort()).toEqual([failed, delivered].sort());
    expect(second.nextCursor).toBeNull();
    const { items } = await log.list(of, { limit: 5, state: 'failed' });
    expect(items).toMatchObject([{ id: failed, attempts: 1, lastStatus: 500, nextAttemptAt: null }]);
    const shown = await log.find(of, delivered);
    expect(shown).toMatchObject({ state: 'delivered', log: [{ status: 204, answer: 'the answer' }] });
    expect(JSON.parse(shown.body)).toMatchObject({ type: 'topup.credited' });
  });

  it('keeps the last 100 attempts of a delivery, however often it is replayed', async () => {
    const { delivered } = await ended();
    await ledger.billing.query(
      `INSERT INTO webhook_attempts (delivery_id, started_at, duration_ms, status)
       SELECT $1, now(), 5, n FROM generate_series(1, 5000) AS n`,
      [delivered],
    );
    await log.replay(of, delivered);
    const [again] = await queue.claim({ further: 1, perAccount: 1, perEndpoint: 1 }, []);
    await queue.succeeded(again!, attempt(204));
    const kept = (await log.find(of, delivered)).log.map(({ status }) => status);
    expect(kept).toEqual([...Array.from({ length: 99 }, (_, index) => 4_902 + index), 204]);
  });

  it('belongs to the account', async () => {
    const { failed } = await ended();
    const foreign = { ...of, accountId: newId() };
    const notFound = { code: 'not_found' };
    await expect(log.list(foreign, { limit: 1 })).rejects.toMatchObject(notFound);
    await expect(log.find(foreign, failed)).rejects.toMatchObject(notFound);
    await expect(log.replay(foreign, failed)).rejects.toMatchObject(notFound);
    await expect(log.ping(foreign)).rejects.toMatchObject(notFound);
    await expect(log.find(of, newId())).rejects.toMatchObject(notFound);
  });
});

describe('a replay', () => {
  it('sends an ended delivery again, and leaves a pending one as it is', async () => {
    const { failed } = await ended();
    expect(await log.replay(of, failed)).toMatchObject({ state: 'pending', attempts: 0 });
    const [again] = await queue.claim({ further: 1, perAccount: 1, perEndpoint: 1 }, []);
    expect(again).toMatchObject({ id: failed, attempts: 1 });
    expect(await log.replay(of, failed)).toMatchObject({ state: 'pending', attempts: 1 });
    await queue.succeeded(again!, attempt(204));
    expect((await log.find(of, failed)).log.map(({ status }) => status)).toEqual([500, 204]);
  });

  it('is only done so often in a day', async () => {
    const { failed } = await ended();
    const since = new Date(Date.now() + 60_000);
    const refusal = { code: 'too_many_attempts' };
    for (let replays = 0; replays < 50; replays += 1) await log.replaySince(of, since, 'all');
    await expect(log.replaySince(of, since, 'all')).rejects.toMatchObject(refusal);
    await log.replay(of, failed);
    await ledger.billing.query('UPDATE attempts SET count = 1000');
    await expect(log.replay(of, failed)).rejects.toMatchObject(refusal);
  });

  it('since a time sends the failed ones again, or all', async () => {
    const { failed, delivered } = await ended();
    const since = new Date(Date.now() - 60_000);
    expect(await log.replaySince(of, new Date(Date.now() + 60_000), 'all')).toBe(0);
    expect(await log.replaySince(of, since, 'failed')).toBe(1);
    expect(await statesOf()).toEqual({ [failed]: 'pending', [delivered]: 'delivered' });
    expect(await log.replaySince(of, since, 'all')).toBe(1);
    expect(await statesOf()).toEqual({ [failed]: 'pending', [delivered]: 'pending' });
  });

  it('is refused for a disabled endpoint, and so is a ping', async () => {
    const { failed } = await ended();
    await disable();
    const conflict = { code: 'conflict' };
    await expect(log.replay(of, failed)).rejects.toMatchObject(conflict);
    await expect(log.replaySince(of, new Date(0), 'all')).rejects.toMatchObject(conflict);
    await expect(log.ping(of)).rejects.toMatchObject(conflict);
  });
});

it('queues at most five pings per minute, however many are requested at once', async () => {
  const outcome = await race(Array.from({ length: 8 }, () => log.ping(of)));
  expect(outcome).toEqual({ succeeded: 5, refused: Array(3).fill('too_many_attempts') });
  const { items } = await log.list(of, { limit: 10 });
  expect(items.map(({ type, state }) => `${type} ${state}`)).toEqual(Array(5).fill('ping pending'));
});
