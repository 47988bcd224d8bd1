import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ServerResponse } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { inTransaction } from '#database/database.js';
import { systemClock } from '#platform/clock.js';
import { ConfigReader } from '#platform/config.js';
import { newWebhookSecret } from '#platform/http/webhook-signature.js';
import { newId } from '#platform/ids.js';
import { SecretBox } from '#platform/sealed-secret.js';
import { Registry } from '#platform/metrics.js';
import { UpstreamConnections } from '#upstream/connections.js';
import { createLedgerFixture, type LedgerFixture } from '../../test/support/ledger.js';
import { until } from '../../test/support/eventually.js';
import { startWebhookReceiver, type WebhookReceiver } from '../../test/support/webhook-receiver.js';
import { DeliveryQueue, endPending } from './delivery.queue.js';
import type { DueDelivery } from './due-deliveries.js';
import { WebhookSender } from './webhook.sender.js';
import { readWebhooksConfig } from './webhooks.config.js';

let ledger: LedgerFixture;
let receiver: WebhookReceiver;
let queue: DeliveryQueue;
const connections = new UpstreamConnections();

const config = readWebhooksConfig(
  new ConfigReader({ WEBHOOK_POLL_SECONDS: '0.02', WEBHOOK_TIMEOUT_SECONDS: '180' }),
);
const MOST = { further: 64, perAccount: 16, perEndpoint: 4 };
/** For receivers that do not answer. */
const HASTY = { ...config, timeoutMs: 2_000 };

beforeAll(async () => {
  ledger = await createLedgerFixture();
  receiver = await startWebhookReceiver();
  queue = new DeliveryQueue(ledger.billing, config);
});
afterAll(async () => {
  await connections.close();
  await receiver?.close();
  await ledger?.close();
});

function newSender(allowPrivate: boolean, { timeoutMs } = config): WebhookSender {
  return new WebhookSender({
    queue,
    connections,
    config: { ...config, allowPrivate, timeoutMs },
    secrets: new SecretBox([]),
    clock: systemClock,
    log: ledger.log,
    registry: new Registry(),
    onSwitchedOff: async () => undefined,
  });
}

async function endpoint(url: string): Promise<{ id: string; accountId: string }> {
  const { accountId } = await ledger.account({ credits: '0' });
  const id = newId();
  await ledger.billing.query(
    `INSERT INTO webhook_endpoints (id, account_id, url, events, secret) VALUES ($1, $2, $3, '{topup.credited}', $4)`,
    [id, accountId, url, newWebhookSecret()],
  );
  return { id, accountId };
}

function credited(accountId: string) {
  const at = new Date(Date.now() + 1_000).toISOString();
  return { id: `topup_${newId()}`, type: 'topup.credited' as const, accountId, at, data: {} };
}

async function lastErrorOf(endpointId: string): Promise<string | null | undefined> {
  const { rows } = await ledger.billing.query<{ error: string | null }>(
    `SELECT a.error FROM webhook_attempts a JOIN webhook_deliveries d ON d.id = a.delivery_id
     WHERE d.endpoint_id = $1 ORDER BY a.id DESC LIMIT 1`,
    [endpointId],
  );
  return rows[0]?.error;
}

it('connects to no private address, whatever a name resolves to', async () => {
  const { port } = new URL(receiver.url);
  const { id, accountId } = await endpoint(`http://localhost:${port}/inside`);
  await queue.add([credited(accountId)]);
  const sender = newSender(false);
  sender.start();
  await until('an attempt', async () => (await lastErrorOf(id)) !== undefined);
  await sender.stop();
  expect(await lastErrorOf(id)).toContain('No connection: the host has no public address');
  expect(receiver.at('/inside')).toEqual([]);
  // It would be due again in a later test.
  await inTransaction(ledger.billing, (client) => endPending(client, id));
});

it('shares deliveries with another sender without sending one twice', async () => {
  const { id, accountId } = await endpoint(`${receiver.url}/shared`);
  const events = Array.from({ length: 60 }, () => credited(accountId));
  expect(await queue.add([...events, ...events])).toBe(120);
  await queue.add(events);
  const senders = [newSender(true), newSender(true)];
  for (const sender of senders) sender.start();
  await until('all to be sent', async () => {
    const { rows } = await ledger.billing.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM webhook_deliveries WHERE endpoint_id = $1 AND state = 'delivered'`,
      [id],
    );
    return rows[0]?.count === 60;
  });
  await Promise.all(senders.map((sender) => sender.stop()));
  const ids = receiver.at('/shared').map(({ headers }) => headers['webhook-id']);
  expect(ids).toHaveLength(60);
  expect(new Set(ids).size).toBe(60);
});

it('does not let a silent receiver hold up the others', async () => {
  const silent = await endpoint(`${receiver.url}/silent`);
  const quick = await endpoint(`${receiver.url}/quick`);
  const unanswered: ServerResponse[] = [];
  receiver.answer('/silent', (response) => void unanswered.push(response));
  await queue.add(Array.from({ length: 200 }, () => credited(silent.accountId)));
  const sender = newSender(true);
  sender.start();
  await until('the silent one to be asked', async () => receiver.at('/silent').length > 0);
  await queue.add([credited(quick.accountId)]);
  sender.wake();
  await until('the quick one', async () => receiver.at('/quick').length === 1);
  expect(receiver.at('/silent').length).toBeLessThanOrEqual(4);
  // Nobody waits for its answers any more, neither this sender nor those of other tests.
  await inTransaction(ledger.billing, (client) => endPending(client, silent.id));
  receiver.answer('/silent', (response) => void response.destroy());
  for (const response of unanswered) response.destroy();
  await sender.stop();
});

it('gives the accounts turns, whatever waits for longest', async () => {
  const [slow, other] = [await endpoint(`${receiver.url}/slow`), await endpoint(`${receiver.url}/other`)];
  const accounts = async (further: number, inProgress: readonly DueDelivery[] = []) =>
    (await queue.claim({ ...MOST, further }, inProgress)).map(({ accountId }) => accountId);
  await queue.add(Array.from({ length: 9 }, () => credited(slow.accountId)));
  await queue.add([credited(other.accountId), credited(other.accountId)]);
  const begun = await queue.claim({ ...MOST, further: 2 }, []);
  expect(begun.map(({ accountId }) => accountId).sort()).toEqual([slow.accountId, other.accountId].sort());
  const working = begun.filter(({ accountId }) => accountId === slow.accountId);
  expect(await accounts(1, working)).toEqual([other.accountId]);
  expect(await accounts(1, working)).toEqual([slow.accountId]);
  for (const { id } of [slow, other]) await inTransaction(ledger.billing, (client) => endPending(client, id));
});

it('sends an endpoint as many at once as it may have, however many programs send', async () => {
  const { id, accountId } = await endpoint(`${receiver.url}/crowded`);
  await queue.add(Array.from({ length: 40 }, () => credited(accountId)));
  const first = await queue.claim({ ...MOST, further: 3 }, []);
  const next = await queue.claim(MOST, first);
  expect([first.length, next.length]).toEqual([3, 1]);
  await queue.succeeded(first[0]!, {
    startedAt: new Date(),
    durationMs: 1,
    status: 200,
    error: null,
    answer: null,
  });
  // Other programs know nothing of what this one has in progress.
  const others = await Promise.all(Array.from({ length: 8 }, () => queue.claim(MOST, [])));
  expect(others.flat()).toHaveLength(1);
  await inTransaction(ledger.billing, (client) => endPending(client, id));
  // The four are still under way, though their deliveries were ended and started over.
  await ledger.billing.query(
    `UPDATE webhook_deliveries SET state = 'pending', ended_at = NULL WHERE endpoint_id = $1 AND state = 'failed'`,
    [id],
  );
  expect(await queue.claim(MOST, [...first.slice(1), ...next, ...others.flat()])).toEqual([]);
  await inTransaction(ledger.billing, (client) => endPending(client, id));
});

it('leaves places to other accounts, though nobody else waits yet', async () => {
  const { id, accountId } = await endpoint(`${receiver.url}/alone`);
  await queue.add(Array.from({ length: 9 }, () => credited(accountId)));
  const most = { further: 64, perAccount: 3, perEndpoint: 9 };
  const first = await queue.claim(most, []);
  expect(first).toHaveLength(3);
  expect(await queue.claim(most, first)).toEqual([]);
  expect(await queue.claim(most, first.slice(1))).toHaveLength(1);
  await inTransaction(ledger.billing, (client) => endPending(client, id));
});

it('queues nothing from before the endpoint, and nothing that the log would have forgotten', async () => {
  const { accountId } = await endpoint(`${receiver.url}/history`);
  const old = new Date(Date.now() - 3_600_000).toISOString();
  expect(await queue.add([{ ...credited(accountId), at: old }])).toBe(0);
});

it('says the same, without a time, about hosts that resolve, refuse, stay silent or do not exist', async () => {
  const sockets: Socket[] = [];
  const silent = createServer((socket) => sockets.push(socket));
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as AddressInfo;
  const closed = createServer();
  await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
  const refusing = (closed.address() as AddressInfo).port;
  await new Promise((resolve) => closed.close(resolve));
  const noted = new Set<string>();
  const hosts = {
    inside: `localhost:${port}`,
    refuses: `127.0.0.1:${refusing}`,
    silent: `127.0.0.1:${port}`,
  };
  for (const [name, host] of Object.entries({ ...hosts, missing: 'nothing.invalid' })) {
    const { id, accountId } = await endpoint(`https://${host}/${name}`);
    await queue.add([credited(accountId)]);
    const sender = newSender(name !== 'inside', HASTY);
    sender.start();
    await until('an attempt', async () => (await lastErrorOf(id)) !== undefined);
    await sender.stop();
    const { rows } = await ledger.billing.query(
      `SELECT a.error, a.status, a.answer, a.duration_ms FROM webhook_attempts a
       JOIN webhook_deliveries d ON d.id = a.delivery_id WHERE d.endpoint_id = $1 LIMIT 1`,
      [id],
    );
    noted.add(JSON.stringify(rows));
  }
  sockets.forEach((socket) => socket.destroy());
  await new Promise((resolve) => silent.close(resolve));
  expect([...noted]).toHaveLength(1);
});
