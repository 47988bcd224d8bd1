import { afterEach, describe, expect, it } from 'vitest';
import { gate } from '../support/bus.js';
import { closeClean, type Customer, json, type Relay, startRelay, until } from '../support/relay.js';
import { type Script, type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.js';

const MODEL = 'vendora-chat';

describe('a channel that one customer fills', () => {
  let relay: Relay;
  let upstream: ScriptedUpstream;
  let gated = gate();

  /** A relay with a single channel for chats. Its upstream answers `held` once the gate is open, and `quick` at once. */
  async function startWith({ places, waitSeconds }: { places: number; waitSeconds: string }): Promise<void> {
    gated = gate();
    const answer: Script = (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } }));
    };
    upstream = await startScriptedUpstream({
      held: (...call) => void gated.opened.then(() => answer(...call)),
      quick: answer,
    });
    relay = await startRelay({ CHANNEL_WAIT_SECONDS: waitSeconds });
    const { owner } = relay.fixture;
    await owner.query(
      `INSERT INTO channels (id, protocol, base_url, api_key, priority, max_concurrency)
       VALUES ('gated', 'openai-xai', $1, 'k', 9, $2)`,
      [upstream.url, places],
    );
    await owner.query(`DELETE FROM channel_models WHERE model_id = $1`, [MODEL]);
    await owner.query(`INSERT INTO channel_models VALUES ('gated', $1, $1)`, [MODEL]);
    await owner.query(`INSERT INTO channel_groups VALUES ('gated', 'Vendora-Main')`);
  }

  afterEach(async () => {
    gated.open();
    await closeClean(relay);
    upstream.close();
  });

  async function chat(customer: Customer, word: 'held' | 'quick', signal?: AbortSignal): Promise<Response> {
    const messages = [{ role: 'user', content: word }];
    const body = json({ model: MODEL, max_tokens: 10, messages });
    return customer.send('/v1/chat/completions', { ...body, ...(signal && { signal }) });
  }

  const arrived = () => upstream.bodies.map((body) => JSON.stringify(body['messages']));

  async function waiting(): Promise<number> {
    const metrics = await relay.registry.metrics();
    return Number(/upstream_channel_waiting\{channel="gated"[^}]*\} (\d+)/.exec(metrics)?.[1] ?? 0);
  }

  it('serves another customer as often as the one who came first with many', async () => {
    const places = 4;
    await startWith({ places, waitSeconds: '300' });
    const [hostile, honest] = [await relay.customer('9'), await relay.customer('9')];
    const many = Array.from({ length: 60 }, () => chat(hostile, 'held'));
    await until('the channel to be full', async () => (await waiting()) === 60 - places);
    const few = Array.from({ length: 12 }, () => chat(honest, 'quick'));
    await until('all others to wait', async () => (await waiting()) === 72 - places);
    gated.open();
    const statuses = (await Promise.all([...many, ...few])).map((answer) => answer.status);
    expect(new Set(statuses)).toEqual(new Set([200]));
    const last = arrived().findLastIndex((body) => body.includes('quick'));
    const meanwhile = arrived()
      .slice(places, last)
      .filter((body) => body.includes('held'));
    // They take turns, except for what is on its way at once. In order of arrival, all 56 that waited would come first.
    expect(meanwhile.length).toBeLessThanOrEqual(12 + 2 * places);
  });

  it('refuses what waits too long, with a 429 for the customer’s own excess, before anything is held', async () => {
    await startWith({ places: 1, waitSeconds: '0.2' });
    const [one, two] = [await relay.customer('1'), await relay.customer('1')];
    const first = chat(one, 'held');
    await until('it to arrive', async () => arrived().length === 1);
    const own = await chat(one, 'quick');
    expect(own.status).toBe(429);
    expect(Number(own.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await own.json()).toMatchObject({
      error: { code: 'rate_limit_exceeded', type: 'rate_limit_error' },
    });
    const left = await chat(two, 'quick');
    expect(left.status).toBe(503);
    expect(Number(left.headers.get('retry-after'))).toBeGreaterThan(0);
    const { rows } = await relay.fixture.owner.query<{ count: string }>('SELECT count(*) FROM charges');
    expect(String(rows[0]?.count)).toBe('1');
    gated.open();
    expect((await first).status).toBe(200);
  });

  it('forgets a call whose client left while waiting', async () => {
    await startWith({ places: 1, waitSeconds: '300' });
    const [hostile, honest] = [await relay.customer('1'), await relay.customer('1')];
    const leaving = new AbortController();
    const first = chat(hostile, 'held');
    await until('it to arrive', async () => arrived().length === 1);
    const gone = chat(honest, 'quick', leaving.signal);
    await until('it to wait', async () => (await waiting()) === 1);
    leaving.abort();
    await expect(gone).rejects.toThrow();
    await until('it to be forgotten', async () => (await waiting()) === 0);
    gated.open();
    expect((await first).status).toBe(200);
    expect(await honest.balance()).toMatchObject({ held: '0' });
  });
});
