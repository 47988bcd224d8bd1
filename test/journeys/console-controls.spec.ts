import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Webhook } from 'standardwebhooks';
import { newId } from '#platform/ids.js';
import { type Person, person } from '../support/console.js';
import { runControls } from '../support/controls.js';
import { closeClean, type Customer, json, type Relay, startRelay, until } from '../support/relay.js';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.js';

let relay: Relay;
let receiver: WebhookReceiver;
let finance: Person;
let customer: Customer;

beforeAll(async () => {
  relay = await startRelay({
    RECONCILE_SECONDS: '3600',
    RECONCILE_GRACE_SECONDS: '60',
    WEBHOOK_ALLOW_PRIVATE: 'true',
    WEBHOOK_POLL_SECONDS: '0.05',
    WEBHOOK_RETRY_SECONDS: '0.05',
  });
  receiver = await startWebhookReceiver();
  finance = await person(relay, { roles: ['finance'] });
  customer = await relay.customer('10');
  const image = (prompt: string) => json({ model: 'vendora-imagine-image', n: 2, prompt });
  await customer.send('/v1/images/generations', image('a lighthouse'));
  await customer.send('/v1/images/generations', image('a boat [[fault:moderation]]'));
});
afterAll(async () => {
  await closeClean(relay);
  await receiver?.close();
});

const run = (controls?: string[]) => runControls(finance, controls);

async function standing(id: string) {
  const { data } = await finance.api.GET('/api/finance/controls');
  return data!.items.find((each) => each.id === id)!;
}

async function findings(
  controlId: string,
  query: { state?: 'open' | 'resolved' | 'all'; limit?: number; cursor?: string } = {},
) {
  const { data } = await finance.api.GET('/api/finance/controls/{controlId}/findings', {
    params: { path: { controlId }, query },
  });
  return data!;
}

/** An old hold that nothing resolves. The sweeps leave it alone, because a dead letter names it. */
async function plantHold(): Promise<string> {
  const chargeId = newId();
  const { accountId, keyId } = customer;
  await relay.fixture.owner.query(
    `INSERT INTO dead_letters (topic, partition, "offset", charge_id, reason) VALUES ('charge.resolved', 0, $1, $1, 'planted')`,
    [chargeId],
  );
  await relay.fixture.owner.query(
    `INSERT INTO charges (id, account_id, key_id, state, family, model_id, group_name, amount, deadline, created_at)
     VALUES ($1, $2, $3, 'held', 'image', 'vendora-imagine-image', 'Vendora-Main', 20000000, now() - interval '1 hour',
       now() - interval '2 hours')`,
    [chargeId, accountId, keyId],
  );
  return chargeId;
}

async function removeHold(chargeId: string): Promise<void> {
  await relay.fixture.owner.query('DELETE FROM charges WHERE id = $1', [chargeId]);
  await relay.fixture.owner.query('DELETE FROM dead_letters WHERE charge_id = $1', [chargeId]);
}

describe('the controls', () => {
  it('run automatically when the relay starts, and are green if all is well', async () => {
    await until('the first run', async () => (await standing('ledger')).state !== 'never');
    const { data } = await finance.api.GET('/api/finance/controls');
    expect(data!.items.filter(({ state }) => state !== 'green')).toEqual([]);
    expect(data!.items.map(({ id }) => id)).toEqual(
      expect.arrayContaining(['charges-tasks', 'holds', 'refund-latency', 'promotion', 'ledger']),
    );
    for (const { title, explanation, lastRunAt } of data!.items) {
      expect(title.length * explanation.length).toBeGreaterThan(0);
      expect(lastRunAt).not.toBeNull();
    }
    expect((await run(['ledger'])).map(({ id, count }) => [id, count])).toEqual([['ledger', 0]]);
    const ran = (await run()).map(({ id }) => id);
    expect(ran).toContain('holds');
    expect(ran).not.toContain('ledger');
  });

  it('find a fault, show who handles it, and resolve it when it is gone', async () => {
    const chargeId = await plantHold();
    expect(await run(['holds'])).toEqual([expect.objectContaining({ id: 'holds', state: 'red', count: 1 })]);
    const { items } = await findings('holds');
    expect(items).toMatchObject([
      { subject: `charge:${chargeId}`, state: 'overdue', details: { amount: '0.02 CRD' }, resolvedAt: null },
    ]);
    const path = { controlId: 'holds', findingId: items[0]!.id };
    const { data } = await finance.api.POST(
      '/api/finance/controls/{controlId}/findings/{findingId}/acknowledge',
      { params: { path }, body: { note: 'Asked the worker.' } },
    );
    expect(data).toMatchObject({ acknowledgedBy: `user:${finance.userId}`, note: 'Asked the worker.' });
    expect(await standing('holds')).toMatchObject({ count: 1, openFindings: 1, unacknowledged: 0 });
    const metrics = await relay.registry.metrics();
    expect(metrics).toMatch(/tollgate_control_findings\{control="holds"[^}]*\} 1/);
    const lastLook = /tollgate_control_last_look_timestamp_seconds\{control="holds"[^}]*\} (\S+)/.exec(
      metrics,
    );
    expect(Math.abs(Number(lastLook![1]) - Date.now() / 1000)).toBeLessThan(900);
    expect(metrics).toMatch(/tollgate_control_run_seconds_count(\{[^}]*\})? [1-9]/);

    const file = await finance.send('/api/finance/controls/holds/findings.csv');
    expect(await file.text()).toContain(`holds,charge:${chargeId},overdue`);
    await removeHold(chargeId);
    await run(['holds']);
    expect(await findings('holds')).toEqual({ items: [], nextCursor: null });
    expect((await findings('holds', { state: 'resolved' })).items[0]).toMatchObject({
      subject: `charge:${chargeId}`,
    });
    expect(await standing('holds')).toMatchObject({ state: 'green', openFindings: 0 });
    const late = await finance.send(
      `/api/finance/controls/holds/findings/${path.findingId}/acknowledge`,
      json({}),
    );
    expect(late.status).toBe(409);
  });

  it('report charges against their work, by day, one by one and as a file', async () => {
    const { data } = await finance.api.GET('/api/finance/reports/charges-tasks', { params: { query: {} } });
    expect(data).toMatchObject({ faults: 0, days: [{ state: 'matched', items: 2, settled: '0.04' }] });
    const list = async (query: object) =>
      (await finance.api.GET('/api/finance/reports/charges-tasks/items', { params: { query } })).data!;
    const first = await list({ limit: 1 });
    const rest = await list({ limit: 5, cursor: first.nextCursor! });
    expect([...first.items, ...rest.items].map(({ chargeState }) => chargeState)).toEqual([
      'released',
      'settled',
    ]);
    expect(rest).toMatchObject({
      items: [{ state: 'matched', requestId: expect.any(String) }],
      nextCursor: null,
    });
    expect(rest.items[0]!.transactionIds).toHaveLength(2);
    expect((await list({ faults: 'true' })).items).toEqual([]);
    const file = await finance.send('/api/finance/reports/charges-tasks/items.csv?state=matched');
    expect((await file.text()).trim().split('\n')).toHaveLength(3);
    for (const query of [
      'faults=true&state=late',
      'cursor=bm8',
      'from=2026-01-01T00:00:00Z&to=2026-12-01T00:00:00Z',
    ])
      expect((await finance.send(`/api/finance/reports/charges-tasks/items?${query}`)).status).toBe(400);
  });

  it('list findings page by page, newest first', async () => {
    const planted = [await plantHold(), await plantHold(), await plantHold()];
    await run(['holds']);
    const first = await findings('holds', { limit: 2 });
    expect(first.items).toHaveLength(2);
    const second = await findings('holds', { limit: 2, cursor: first.nextCursor! });
    expect(second).toMatchObject({ nextCursor: null, items: [expect.anything()] });
    const seen = [...first.items, ...second.items].map(({ subject }) => subject).sort();
    expect(seen).toEqual(planted.map((id) => `charge:${id}`).sort());
    for (const chargeId of planted) await removeHold(chargeId);
    await run(['holds']);
  });

  it('refuse what does not exist, and everyone but finance', async () => {
    for (const [path, init, status] of [
      ['controls/nothing/findings', {}, 404],
      ['controls/nothing/findings.csv', {}, 404],
      ['controls/holds/findings?cursor=x', {}, 400],
      ['controls/holds/findings/999/acknowledge', json({}), 404],
      ['controls/run', json({ controls: ['nothing'] }), 400],
      ['controls/run', json({ controls: [] }), 400],
      ['transactions/1', {}, 404],
      ['transactions/x', {}, 404],
    ] as const) {
      expect([path, (await finance.send(`/api/finance/${path}`, init)).status]).toEqual([path, status]);
    }
    for (const roles of [['admin'], ['support'], []] as const) {
      const other = await person(relay, { roles });
      for (const [path, init] of [
        ['controls', {}],
        ['controls/run', json({})],
        ['controls/holds/findings', {}],
        ['controls/holds/findings/1/acknowledge', json({})],
        ['reports/holds', {}],
        ['reports/refunds', {}],
        ['reports/promotion', {}],
        ['transactions/1000', {}],
      ] as const) {
        expect((await other.send(`/api/finance/${path}`, init)).status).toBe(403);
      }
    }
  });
});

describe('the webhook control.failed', () => {
  async function endpointOf(owner: Person, path: string) {
    const { data, response } = await owner.api.POST('/api/webhooks', {
      body: { url: receiver.url + path, events: ['control.failed'] },
    });
    return { endpoint: data, status: response.status };
  }

  it('announces new findings to finance staff, signed, and is replayed like others', async () => {
    const { endpoint } = await endpointOf(finance, '/controls');
    const chargeId = await plantHold();
    await run(['holds']);
    await until('the delivery', async () => receiver.at('/controls').length > 0);
    await run(['holds']);
    const { body, headers } = receiver.at('/controls')[0]!;
    expect(new Webhook(endpoint!.secret).verify(body, headers as Record<string, string>)).toMatchObject({
      type: 'control.failed',
      data: { control: 'holds', state: 'red', count: 1, new: 1, subjects: [`charge:${chargeId}`] },
    });
    const deliveries = await finance.api.GET('/api/webhooks/{endpointId}/deliveries', {
      params: { path: { endpointId: endpoint!.id } },
    });
    expect(deliveries.data!.items.map(({ type }) => type)).toEqual(['control.failed']);
    const path = { endpointId: endpoint!.id, deliveryId: deliveries.data!.items[0]!.id };
    await until('the end of it', async () => {
      const { data } = await finance.api.GET('/api/webhooks/{endpointId}/deliveries/{deliveryId}', {
        params: { path },
      });
      return data!.state === 'delivered';
    });
    await finance.api.POST('/api/webhooks/{endpointId}/deliveries/{deliveryId}/replays', {
      params: { path },
    });
    await until('the replay', async () => receiver.at('/controls').length === 2);
    await removeHold(chargeId);
    await run(['holds']);
  });

  it('is only for finance staff, for as long as they have the role', async () => {
    const other = await person(relay, { roles: ['admin'] });
    expect((await endpointOf(other, '/other')).status).toBe(403);
    const { data } = await other.api.POST('/api/webhooks', {
      body: { url: `${receiver.url}/other`, events: ['balance.low'] },
    });
    const changed = await other.api.PATCH('/api/webhooks/{endpointId}', {
      params: { path: { endpointId: data!.id } },
      body: { events: ['control.failed'] },
    });
    expect(changed.response.status).toBe(403);

    const former = await person(relay, { roles: ['finance'] });
    expect((await endpointOf(former, '/former')).status).toBe(201);
    await relay.fixture.owner.query(`UPDATE users SET roles = '{user}' WHERE id = $1`, [former.userId]);
    const before = receiver.at('/controls').length;
    const chargeId = await plantHold();
    await run(['holds']);
    await until('the delivery to who is of finance', async () => receiver.at('/controls').length > before);
    expect([...receiver.at('/former'), ...receiver.at('/other')]).toEqual([]);
    await removeHold(chargeId);
    await run(['holds']);
  });
});

describe('reports of work', () => {
  it('show what is held, oldest first', async () => {
    const [older, newer] = [await plantHold(), await plantHold()];
    const { data } = await finance.api.GET('/api/finance/reports/holds', { params: { query: { limit: 1 } } });
    expect(data).toMatchObject({
      overdue: { count: 2, amount: '0.04' },
      total: '0.04',
      balances: '0',
      items: [{ chargeId: older, isOverdue: true, model: 'vendora-imagine-image', taskId: null }],
    });
    expect(data!.buckets).toEqual([
      { underMs: 60_000, count: 0, amount: '0' },
      { underMs: 600_000, count: 0, amount: '0' },
      { underMs: 3_600_000, count: 0, amount: '0' },
      { underMs: 86_400_000, count: 2, amount: '0.04' },
      { underMs: null, count: 0, amount: '0' },
    ]);
    const next = await finance.api.GET('/api/finance/reports/holds', {
      params: { query: { limit: 1, cursor: data!.nextCursor!, overdue: 'true' } },
    });
    expect(next.data).toMatchObject({ items: [{ chargeId: newer }], nextCursor: null });
    expect(await (await finance.send('/api/finance/reports/holds.csv')).text()).toContain(older);
    for (const chargeId of [older, newer]) await removeHold(chargeId);
  });

  it('show when failures were refunded, with links to the postings', async () => {
    const { data } = await finance.api.GET('/api/finance/reports/refunds');
    expect(data!.days).toMatchObject([
      { failures: 1, refunded: 1, outstanding: 0, amount: '0.04', outstandingAmount: '0' },
    ]);
    expect(data!.days[0]!.p50Ms).toBeGreaterThanOrEqual(0);
    expect(data!.days[0]!.maxMs).toBeLessThan(10_000);
    const { data: failures } = await finance.api.GET('/api/finance/reports/refunds/failures');
    expect(failures).toMatchObject({
      items: [{ chargeState: 'released', amount: '0.04' }],
      nextCursor: null,
    });
    const [hold, release] = failures!.items[0]!.transactionIds;
    const { data: transaction } = await finance.api.GET('/api/finance/transactions/{transactionId}', {
      params: { path: { transactionId: release! } },
    });
    expect(transaction).toMatchObject({
      kind: 'release',
      chargeId: failures!.items[0]!.chargeId,
      entries: [
        { code: `customer:${customer.accountId}:held`, amount: '-0.04', unit: 'CRD' },
        { code: `customer:${customer.accountId}:main`, amount: '0.04', unit: 'CRD' },
      ],
      linked: [{ id: hold, kind: 'hold', relation: 'same_charge' }],
      charge: { state: 'released', amount: '0.04', settled: '0', released: '0.04' },
    });
    expect(await (await finance.send('/api/finance/reports/refunds/failures.csv')).text()).toContain(release);
    const { data: none } = await finance.api.GET('/api/finance/reports/refunds/failures', {
      params: { query: { outstanding: 'true' } },
    });
    expect(none!.items).toEqual([]);
    const wrong = 'from=2026-02-01T00:00:00Z&to=2026-01-01T00:00:00Z';
    expect((await finance.send(`/api/finance/reports/refunds?${wrong}`)).status).toBe(400);
  });

  it('show the cost of invites, reconciled with its source', async () => {
    const inviter = await person(relay);
    const invitee = await relay.fixture.account({ credits: '0' });
    await relay.fixture.billing.query(
      'INSERT INTO invitations (invitee_account_id, inviter_account_id) VALUES ($1, $2)',
      [invitee.accountId, inviter.accountId],
    );
    const paid = { accountId: invitee.accountId, paid: '13', currency: 'USD', reason: 'bank transfer' };
    await finance.api.POST('/api/finance/topups', {
      body: { ...paid, paymentId: newId(), requestId: newId() },
    });
    await inviter.api.POST('/api/invites/transfers', { body: { amount: '0.4', requestId: newId() } });
    const { data } = await finance.api.GET('/api/finance/reports/promotion');
    expect(data).toMatchObject({
      opening: '0',
      given: '1',
      clawedBack: '0',
      moved: '0.4',
      closing: '0.6',
      owed: '0',
      issued: '1',
      ties: true,
      days: [{ given: '1', moved: '0.4' }],
    });
    const earlier = await finance.api.GET('/api/finance/reports/promotion', {
      params: { query: { to: '2020-01-01T00:00:00Z' } },
    });
    expect(earlier.data).toMatchObject({ given: '0', closing: '0', ties: true, days: [] });
    expect((await run(['promotion']))[0]).toMatchObject({ count: 0 });
  });
});
