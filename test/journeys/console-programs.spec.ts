import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '#platform/ids.js';
import { storeDeadLetter } from '#operations/dead-letters.store.js';
import { type Person, person } from '../support/console.js';
import { closeClean, json, type Relay, startRelay, until } from '../support/relay.js';

let relay: Relay;
let admin: Person;

beforeAll(async () => {
  relay = await startRelay({ REPORT_SECONDS: '0.1', CHANNEL_TEST_SECONDS: '60' });
  admin = await person(relay, { roles: ['admin'] });
});
afterAll(() => closeClean(relay));

const programs = async () => (await admin.api.GET('/api/admin/programs')).data!;
const healthOf = async (channelId: string) =>
  (await admin.api.GET('/api/admin/channels/{channelId}/health', { params: { path: { channelId } } })).data!;

describe('programs', () => {
  it('report their state: recent work, and what is waiting', async () => {
    const customer = await relay.customer('1');
    await customer.send('/v1/images/generations', json({ model: 'vendora-imagine-image', prompt: 'a cat' }));
    await customer.send('/v1/images/generations', json({ model: 'vendora-imagine-image' }));
    await customer.send('/v1/videos', json({ model: 'vendora-imagine-video', prompt: 'a boat [[work:2]]' }));
    const byName = await until('three reports', async () => {
      const { items } = await programs();
      const found = Object.fromEntries(items.map((each) => [each.program, each]));
      const { gateway, worker, billing } = found;
      // With reports ten times a second, a busy machine may be late with one.
      const areHeard = [gateway, worker, billing].every((each) => each?.isSilent === false);
      return areHeard &&
        (gateway?.report.requests?.outcomes['4xx'] ?? 0) > 0 &&
        (worker?.report.polls?.perSecond ?? 0) > 0 &&
        billing?.report.messages.outcomes['handled']
        ? { gateway, worker, billing }
        : null;
    });
    const { gateway, worker, billing } = byName;
    expect(gateway!.report.requests).toMatchObject({ outcomes: { '2xx': 2, '4xx': 1 }, inFlight: 0 });
    expect(gateway!.report.requests!.p99Ms).toBeGreaterThan(0);
    expect(gateway!.report.holds).toEqual({ held: 2 });
    expect(billing.report).toMatchObject({ repairs: 0, holdsSwept: 0, lateSuccesses: 0 });
    expect(billing.report.lag.map(({ topic }) => topic)).toContain('charge.requested');
    for (const each of [gateway, worker, billing]) {
      expect(each!.version).toMatch(/^\d+\.\d+\.\d+/);
      expect(each).toMatchObject({ isSilent: false, report: { outbox: { rows: expect.any(Number) } } });
    }
    expect(await programs()).toMatchObject({ deadLetters: 0, runningTasks: expect.any(Number) });
  });

  it('report only about themselves; dead ones are noticed, then forgotten', async () => {
    const { fixture } = relay;
    const insert = `INSERT INTO program_reports (program, instance, version, host, started_at, reported_at, report)
      VALUES ('worker', $1, '0', 'far', now() - interval '2 hours', now() - $2::interval, $3)`;
    const report = JSON.stringify({
      messages: { perSecond: 0, outcomes: {}, p50Ms: null, p99Ms: null },
      lag: [],
      outbox: null,
      memoryBytes: 1,
    });
    await expect(fixture.billing.query(insert, ['forged', '0', report])).rejects.toThrow(
      'row-level security',
    );
    await fixture.owner.query(insert, ['died', '10 minutes', report]);
    await fixture.owner.query(insert, ['long gone', '2 hours', report]);
    await until('the old report to be forgotten', async () => {
      const { items } = await programs();
      return !items.some(({ instance }) => instance === 'long gone');
    });
    const died = (await programs()).items.find(({ instance }) => instance === 'died');
    expect(died).toMatchObject({ isSilent: true, program: 'worker' });
    await fixture.owner.query(`DELETE FROM program_reports WHERE instance = 'died'`);
  });
});

describe('channels', () => {
  it('show how calls to them went, by program', async () => {
    const customer = await relay.customer('1');
    const draw = (prompt: string) =>
      customer.send('/v1/images/generations', json({ model: 'vendora-imagine-image', prompt }));
    const { items } = (await admin.api.GET('/api/admin/channel-health')).data!;
    await draw('a cat [[fault:reject-500]]');
    const failed = await until('the failure', async () => {
      const all = (await admin.api.GET('/api/admin/channel-health')).data!.items;
      return all
        .flatMap((each) => each.programs.map((program) => ({ ...program, id: each.channelId })))
        .find(({ lastFailure }) => lastFailure);
    });
    expect(failed).toMatchObject({
      program: 'gateway',
      model: 'vendora-imagine-image',
      state: 'closed',
      failures: 1,
      lastFailure: { kind: 'not_accepted', status: 500 },
    });
    await draw('a cat');
    await until('the success', async () => {
      const [mine] = (await healthOf(failed.id)).programs.filter(({ program }) => program === 'gateway');
      return mine?.failures === 0 && mine.lastFailure !== null && mine.p50Ms !== null;
    });
    expect(items.map(({ channelId }) => channelId)).toContain(failed.id);
    const { response } = await admin.api.GET('/api/admin/channels/{channelId}/health', {
      params: { path: { channelId: 'nowhere' } },
    });
    expect(response.status).toBe(404);
  });

  it('visibly drain once they are switched off', async () => {
    const customer = await relay.customer('1');
    await customer.send(
      '/v1/videos',
      json({ model: 'vendora-imagine-video', prompt: 'a boat [[work:3600]]' }),
    );
    const { rows } = await relay.fixture.billing.query<{ id: string }>(
      `SELECT channel_id AS id FROM tasks WHERE account_id = $1`,
      [customer.accountId],
    );
    const channelId = rows[0]!.id;
    const enable = (enabled: boolean) =>
      admin.api.PATCH('/api/admin/channels/{channelId}', {
        params: { path: { channelId } },
        body: { enabled },
      });
    await enable(false);
    expect(await healthOf(channelId)).toMatchObject({ enabled: false });
    expect((await healthOf(channelId)).runningTasks).toBeGreaterThan(0);
    await enable(true);
  });

  it('are tested with each of their keys, free of charge, and that is logged', async () => {
    const { items } = (await admin.api.GET('/api/admin/channels')).data!;
    const channelId = items.find(({ protocol }) => protocol === 'openai-xai')!.id;
    const path = { channelId };
    const test = () => admin.api.POST('/api/admin/channels/{channelId}/tests', { params: { path } });
    const { data } = await test();
    expect(data).toMatchObject({ ok: true, trials: [{ key: 1, verdict: 'ok', status: 200 }] });
    expect(data!.trials[0]!.keyMark).toBe(items.find(({ id }) => id === channelId)!.keyMarks[0]);
    await relay.fixture.owner.query(`UPDATE channels SET further_api_keys = '{wrong-key}' WHERE id = $1`, [
      channelId,
    ]);
    const many = await Promise.all(Array.from({ length: 5 }, test));
    for (const each of many)
      expect(each.data).toMatchObject({
        ok: false,
        trials: [
          { verdict: 'ok', finding: 'answers' },
          { key: 2, verdict: 'failed', finding: 'refuses_key' },
        ],
      });
    await relay.fixture.owner.query(`UPDATE channels SET further_api_keys = '{}' WHERE id = $1`, [channelId]);
    const { rows } = await relay.fixture.owner.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM audit_log WHERE action = 'channel.tested' AND subject = $1 AND actor = $2`,
      [`channel:${channelId}`, `user:${admin.userId}`],
    );
    expect(rows[0]!.count).toBe(6);
    expect(relay.logged()).not.toContain('wrong-key');
    const nowhere = { params: { path: { channelId: 'nowhere' } } };
    expect((await admin.api.POST('/api/admin/channels/{channelId}/tests', nowhere)).response.status).toBe(
      404,
    );
  });
});

describe('dead letters', () => {
  let offset = 0;
  /** A dead letter as billing would store it. */
  async function letter(topic: string, payload: string | null, about: string | null = null): Promise<string> {
    offset += 1;
    await storeDeadLetter(relay.fixture.billing, {
      topic,
      group: 'billing',
      partition: 0,
      offset: `test-${offset}`,
      key: 'a key',
      payload,
      id: about,
      reason: 'Error: it was meant to fail',
    });
    const { rows } = await relay.fixture.billing.query<{ id: bigint }>(
      'SELECT max(id) AS id FROM dead_letters',
    );
    return rows[0]!.id.toString();
  }

  const show = (letterId: string) =>
    admin.api.GET('/api/admin/dead-letters/{letterId}', { params: { path: { letterId } } });
  const replay = (letterId: string, who = admin) =>
    who.api.POST('/api/admin/dead-letters/{letterId}/replays', { params: { path: { letterId } } });

  it('are listed, shown, and replayed once; then what they stood for happens', async () => {
    const customer = await relay.customer('1');
    const chargeId = newId();
    const resolved = {
      chargeId,
      accountId: customer.accountId,
      outcome: 'failed',
      channel: null,
      reason: { code: 'x', message: 'x' },
      upstreamStatus: null,
      latencyMs: null,
    };
    const id = await letter('charge.resolved', JSON.stringify(resolved), chargeId);
    const { data } = await show(id);
    expect(data).toMatchObject({
      id,
      topic: 'charge.resolved',
      group: 'billing',
      about: chargeId,
      replayedAt: null,
      canReplay: true,
      payload: JSON.stringify(resolved),
      reason: 'Error: it was meant to fail',
    });
    expect((await programs()).deadLetters).toBe(1);
    const results = await Promise.all(Array.from({ length: 10 }, () => replay(id)));
    expect(results.map(({ response }) => response.status).sort()).toEqual([
      200,
      ...Array<number>(9).fill(409),
    ]);
    // Resolving a charge that was never held leaves a tombstone.
    await until('the tombstone', async () => {
      const { rows } = await relay.fixture.billing.query('SELECT FROM charges WHERE id = $1', [chargeId]);
      return rows.length > 0;
    });
    const list = async (query: object) =>
      (await admin.api.GET('/api/admin/dead-letters', { params: { query } })).data!.items.map(
        (each) => each.id,
      );
    expect(await list({ about: chargeId })).toEqual([id]);
    expect(await list({ replayed: 'false' })).toEqual([]);
    expect(await list({ replayed: 'true', topic: 'charge.resolved', group: 'billing' })).toEqual([id]);
    expect((await show(id)).data).toMatchObject({ canReplay: false, replayedBy: `user:${admin.userId}` });
    const { rows } = await relay.fixture.owner.query(
      `SELECT actor FROM audit_log WHERE action = 'dead_letter.replayed' AND subject = $1`,
      [`dead_letter:${id}`],
    );
    expect(rows).toEqual([{ actor: `user:${admin.userId}` }]);
  });

  it('come back as new ones if they fail again', async () => {
    const about = newId();
    const broken = { chargeId: about, accountId: newId(), outcome: 'failed', deliveredUnits: null };
    const id = await letter('charge.resolved', JSON.stringify(broken), about);
    expect((await replay(id)).response.status).toBe(200);
    const query = { about, replayed: 'false' } as const;
    const next = await until('another letter', async () => {
      return (await admin.api.GET('/api/admin/dead-letters', { params: { query } })).data!.items[0];
    });
    expect(next).toMatchObject({ topic: 'charge.resolved', replayedAt: null, canReplay: true });
    expect(next.id).not.toBe(id);
    await relay.fixture.owner.query('DELETE FROM dead_letters WHERE charge_id = $1', [about]);
  });

  it('are not replayed if that would not help', async () => {
    const ids = [
      await letter('charge.requested', '{}'),
      await letter('charge.resolved', '{"chargeId": 7}'),
      await letter('charge.resolved', 'no JSON'),
      await letter('charge.resolved', null),
      await letter('no.such.topic', '{}'),
    ];
    for (const id of ids) {
      expect((await show(id)).data).toMatchObject({ canReplay: false });
      const { response, error } = await replay(id);
      expect([response.status, error?.error.code]).toEqual([409, 'conflict']);
    }
    expect((await replay('999999999')).response.status).toBe(404);
    const support = await person(relay, { roles: ['support', 'finance'] });
    expect((await replay(ids[0]!, support)).response.status).toBe(403);
    const page = (await admin.api.GET('/api/admin/dead-letters', { params: { query: { limit: 3 } } })).data!;
    const { nextCursor } = page;
    const rest = (
      await admin.api.GET('/api/admin/dead-letters', { params: { query: { limit: 3, cursor: nextCursor! } } })
    ).data!;
    expect([...page.items, ...rest.items].map(({ id }) => id)).toHaveLength(6);
    await relay.fixture.owner.query('DELETE FROM dead_letters');
  });
});
