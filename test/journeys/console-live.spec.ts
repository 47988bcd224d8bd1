import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GatedUpstream, POLLS } from '../support/gated-upstream.js';
import { type Person, person } from '../support/console.js';
import { EventStream } from '../support/event-stream.js';
import { closeClean, json, type Relay, startRelay, until } from '../support/relay.js';

const MODEL = 'vendora-imagine-video';

let relay: Relay;
let upstream: GatedUpstream;

beforeAll(async () => {
  relay = await startRelay({
    LIVE_POLL_SECONDS: '0.05',
    LIVE_HEARTBEAT_SECONDS: '0.2',
    LIVE_CONNECTIONS_PER_PERSON: '2',
  });
  upstream = await GatedUpstream.before(relay.sandboxUrl, relay.fixture);
});
afterAll(async () => {
  await closeClean(relay);
  await upstream.close();
});

/** A person with credits and a key. */
async function owner(credits = '5'): Promise<Person & { apiKey: string; keyId: string }> {
  const someone = await person(relay, { credits });
  const { data } = await someone.api.POST('/api/keys', { body: { name: 'a key', group: 'Vendora-Main' } });
  return { ...someone, apiKey: data!.apiKey, keyId: data!.keyId };
}

async function createVideo(apiKey: string, prompt: string): Promise<string> {
  const response = await fetch(
    `${relay.baseUrl}/v1/videos`,
    json({ model: MODEL, prompt, seconds: '4' }, { authorization: `Bearer ${apiKey}` }),
  );
  const { id } = (await response.json()) as { id: string };
  return id;
}

const watch = (someone: Person) =>
  EventStream.open(`${relay.consoleUrl}/api/live`, { cookie: someone.headers.cookie });

describe('an account’s tasks', () => {
  it('are shown with what was held, what was released, and their file', async () => {
    const someone = await owner();
    const done = await createVideo(someone.apiKey, 'a paper boat');
    const failed = await createVideo(someone.apiKey, 'a paper boat [[fault:fail-late]]');
    const show = async (taskId: string) =>
      (await someone.api.GET('/api/tasks/{taskId}', { params: { path: { taskId } } })).data!;
    await until(
      'both charges to end',
      async () => (await show(done)).settled && (await show(failed)).released,
    );

    expect(await show(done)).toMatchObject({
      id: done,
      kind: 'video',
      state: 'completed',
      progress: 100,
      model: MODEL,
      keyId: someone.keyId,
      prompt: 'a paper boat',
      seconds: 4,
      held: '0.2',
      settled: '0.2',
      released: '0',
      error: null,
      file: { available: true, type: 'video/mp4', deletedAt: null },
    });
    const { file, endedAt } = await show(done);
    expect(Date.parse(file!.expiresAt!) - Date.parse(endedAt!)).toBe(25 * 60_000);
    expect(file!.bytes).toBeGreaterThan(0);
    expect(await show(failed)).toMatchObject({
      state: 'failed',
      held: '0.2',
      settled: '0',
      released: '0.2',
      file: null,
      error: { code: 'generation_failed' },
    });

    const list = async (query: object) =>
      (await someone.api.GET('/api/tasks', { params: { query } })).data!.items.map(({ id }) => id);
    expect(await list({})).toEqual([failed, done]);
    expect(await list({ state: 'failed' })).toEqual([failed]);
    expect(await list({ state: 'running' })).toEqual([]);
    expect(await list({ kind: '3d' })).toEqual([]);
    expect(await list({ keyId: someone.keyId, model: MODEL, from: '2020-01-01T00:00:00Z' })).toHaveLength(2);
    expect(await list({ to: '2020-01-01T00:00:00Z' })).toEqual([]);
    const first = (await someone.api.GET('/api/tasks', { params: { query: { limit: 1 } } })).data!;
    expect(first.items.map(({ id }) => id)).toEqual([failed]);
    expect(await list({ limit: 1, cursor: first.nextCursor! })).toEqual([done]);

    const stranger = await person(relay);
    const foreign = await stranger.api.GET('/api/tasks/{taskId}', { params: { path: { taskId: done } } });
    expect(foreign.response.status).toBe(404);
    expect((await stranger.api.GET('/api/tasks')).data!.items).toEqual([]);
  });
});

describe('the overview', () => {
  it('shows what was spent, refunded and in progress, and the latest requests', async () => {
    const someone = await owner();
    const [done, failed, slow] = [
      await createVideo(someone.apiKey, 'a boat'),
      await createVideo(someone.apiKey, 'a boat [[fault:fail-late]]'),
      await createVideo(someone.apiKey, 'a boat [[work:3600]]'),
    ];
    const show = async (zone?: string) =>
      (await someone.api.GET('/api/overview', { params: { query: zone === undefined ? {} : { zone } } }))
        .data!;
    await until('two ends', async () => (await show()).today.requests === 2);
    const { days, running, lastRequests, ...overview } = await show('Pacific/Chatham');
    const sums = { spent: '0.2', requests: 2, failures: 1, givenBack: '0.2' };
    expect(overview).toMatchObject({
      balance: { main: '4.6', held: '0.2', invite: '0', refundPending: '0' },
      frozen: false,
      zone: 'Pacific/Chatham',
      today: sums,
      total: sums,
      runningTasks: 1,
    });
    expect(days).toHaveLength(30);
    expect(days.at(-1)).toEqual(overview.today);
    expect(running.map(({ id }) => id)).toEqual([slow]);
    expect(lastRequests.map(({ taskId }) => taskId)).toEqual([slow, failed, done]);
    for (const zone of ['Mars/Olympus', '+05:30', 'x'.repeat(65)]) {
      const { error } = await someone.api.GET('/api/overview', { params: { query: { zone } } });
      expect(error).toMatchObject({ error: { code: 'invalid_value', param: 'zone' } });
    }
    expect((await (await person(relay)).api.GET('/api/overview')).data).toMatchObject({
      runningTasks: 0,
      lastRequests: [],
      total: { requests: 0, spent: '0' },
    });
  });
});

describe('the live stream', () => {
  it('sends the current state, then changes, and both again after a reconnect', async () => {
    const someone = await owner();
    const early = await createVideo(someone.apiKey, 'the first');
    const stream = await watch(someone);
    expect(stream.response.headers.get('content-type')).toContain('text/event-stream');
    expect(stream.response.headers.get('x-accel-buffering')).toBe('no');
    await until('the present state', async () => stream.of('balance')[0] && stream.of('task')[0]);
    expect(stream.of('task')[0]).toMatchObject({ id: early });

    upstream.shut(POLLS);
    const late = await createVideo(someone.apiKey, 'the second');
    await until('its beginning', async () => stream.of('task').some(({ id }) => id === late));
    upstream.open();
    await until('the end of both', async () =>
      [early, late].every((id) =>
        stream.of('task').some((task) => task['id'] === id && task['settled'] === '0.2'),
      ),
    );
    await until('the balance', async () => stream.of('balance').at(-1)?.['held'] === '0');
    expect(stream.of('balance').at(-1)).toEqual({ main: '4.6', held: '0', invite: '0' });
    const states = stream.of('task').filter(({ id }) => id === late);
    expect(states.length).toBeGreaterThan(1);
    expect(states.at(-1)).toMatchObject({ state: 'completed', progress: 100 });
    await until('a heartbeat', async () => stream.rest.includes(': still here'));
    await stream.close();

    const again = await watch(someone);
    await until('the present state', async () => again.of('task').length === 2);
    expect(again.of('balance')).toEqual([{ main: '4.6', held: '0', invite: '0' }]);
    await again.close();
  });

  it('shows nobody anything of someone else’s', async () => {
    const [someone, stranger] = [await owner(), await person(relay)];
    const stream = await watch(stranger);
    await until('the present state', async () => stream.of('balance')[0]);
    const own = await watch(someone);
    await createVideo(someone.apiKey, 'mine');
    await until('the task', async () => own.of('task').some(({ settled }) => settled === '0.2'));
    expect(stream.events.map(({ event }) => event)).toEqual(['balance']);
    await Promise.all([stream.close(), own.close()]);
  });

  it('ends with the session', async () => {
    const someone = await person(relay);
    const stream = await watch(someone);
    await until('the present state', async () => stream.of('balance')[0]);
    await someone.api.POST('/api/sign-out');
    await stream.ended;
    expect(stream.events.at(-1)).toEqual({ event: 'end', data: { reason: 'session_ended' } });
    const response = await fetch(`${relay.consoleUrl}/api/live`, { headers: someone.headers });
    expect(response.status).toBe(401);
  });

  it('is limited per person, and frees its place', async () => {
    const someone = await person(relay);
    const streams = [await watch(someone), await watch(someone)];
    const refused = await fetch(`${relay.consoleUrl}/api/live`, { headers: someone.headers });
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({ error: { code: 'rate_limit_exceeded' } });
    await streams[0]!.close();
    await until('the place', async () => {
      const next = await watch(someone);
      streams.push(next);
      return next.response.status === 200;
    });
    await Promise.all(streams.map((stream) => stream.close()));
  });
});

describe('viewing the console of someone else', () => {
  const view = (staff: Person, accountId: string) =>
    staff.api.POST('/api/support/accounts/{accountId}/view', {
      params: { path: { accountId } },
      body: { reason: 'The customer asked why a call failed.' },
    });

  it('reads what the owner reads, changes nothing, says so, and ends', async () => {
    const someone = await owner('3');
    const staff = await person(relay, { roles: ['support'] });
    const begun = await view(staff, someone.accountId);
    expect(begun.data).toMatchObject({ accountId: someone.accountId });
    expect((await staff.api.GET('/api/session')).data).toMatchObject({
      accountId: staff.accountId,
      viewing: begun.data,
    });
    expect((await staff.api.GET('/api/account')).data).toMatchObject({ accountId: someone.accountId });
    expect((await staff.api.GET('/api/keys')).data!.items.map(({ keyId }) => keyId)).toContain(someone.keyId);
    const stream = await watch(staff);
    await until('the balance of the owner', async () => stream.of('balance')[0]?.['main'] === '3');

    const body = { name: 'mine now', group: 'Vendora-Main' };
    for (const { response, error } of [
      await staff.api.POST('/api/keys', { body }),
      await staff.api.PATCH('/api/account', { body: { name: 'mine now' } }),
      await staff.api.GET('/api/sessions'),
      await staff.api.GET('/api/totp'),
      await staff.api.GET('/api/support/tickets'),
      await view(staff, staff.accountId),
    ]) {
      expect(response.status).toBe(403);
      expect(error).toMatchObject({ error: { code: 'forbidden', message: /viewing the account/ } });
    }
    expect((await staff.api.DELETE('/api/support/view')).response.status).toBe(204);
    expect((await staff.api.DELETE('/api/support/view')).response.status).toBe(204);
    await stream.ended;
    expect((await staff.api.GET('/api/account')).data).toMatchObject({ accountId: staff.accountId });
    expect((await staff.api.GET('/api/session')).data).toMatchObject({ viewing: null });
    const { rows } = await relay.fixture.owner.query<{ action: string; actor: string }>(
      `SELECT action, actor FROM audit_log WHERE account_id = $1 AND action LIKE 'account.view%' ORDER BY id`,
      [someone.accountId],
    );
    expect(rows).toEqual(
      ['account.view_began', 'account.view_ended'].map((action) => ({
        action,
        actor: `user:${staff.userId}`,
      })),
    );
  });

  it('ends after a time, and with the role', async () => {
    const [someone, staff] = [await person(relay), await person(relay, { roles: ['admin'] })];
    const shown = async () => (await staff.api.GET('/api/account')).data!.accountId;
    await view(staff, someone.accountId);
    expect(await shown()).toBe(someone.accountId);
    await relay.fixture.billing.query(`UPDATE sessions SET viewed_until = now() WHERE user_id = $1`, [
      staff.userId,
    ]);
    expect(await shown()).toBe(staff.accountId);
    await view(staff, someone.accountId);
    await relay.fixture.billing.query(`UPDATE users SET roles = '{user,finance}' WHERE id = $1`, [
      staff.userId,
    ]);
    expect(await shown()).toBe(staff.accountId);
    expect((await view(staff, someone.accountId)).response.status).toBe(403);
  });

  it('is only possible for an existing account', async () => {
    const staff = await person(relay, { roles: ['support'] });
    expect((await view(staff, '0'.repeat(26))).response.status).toBe(404);
  });
});
