import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from '../support/eventually.js';
import { GatedUpstream } from '../support/gated-upstream.js';
import { addModel } from '../support/models.js';
import { type Pair, type PairCustomer, type SandboxStats, startPair } from '../support/pair.js';

const IMAGES = '/v1/images/generations';
const IMAGE = { model: 'vendora-imagine-image', prompt: 'a lighthouse' };
const VIDEO = { model: 'vendora-imagine-video', prompt: 'a paper boat', seconds: '4' };

const DRAFT = { model: 'vendora-3d', prompt: 'a chair' };

describe('Idempotency-Key, over two gateways', () => {
  let pair: Pair;
  let upstream: GatedUpstream;
  let customer: PairCustomer;
  let before: SandboxStats;

  beforeAll(async () => {
    pair = await startPair();
    upstream = await GatedUpstream.before(pair.sandboxUrl, pair.fixture);
    const nobody = { channel: 'dead', protocol: 'openai-xai', baseUrl: 'http://127.0.0.1:9' };
    await addModel(pair.fixture.owner, { id: 'dead-video', like: VIDEO.model, ...nobody });
  });
  afterAll(async () => {
    await pair.close();
    await upstream.close();
  });
  beforeEach(async () => {
    customer = await pair.customer('1');
    before = await pair.stats();
  });

  const keyed = (key: string, body: object): RequestInit => ({
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify(body),
  });

  async function post(path: string, init: RequestInit, gateway: 0 | 1 = 0) {
    const response = await customer.send(gateway, path, init);
    return { status: response.status, headers: response.headers, text: await response.text() };
  }

  /** Upstream calls since the test began. */
  async function asked(what: keyof SandboxStats): Promise<number> {
    return (await pair.stats())[what] - before[what];
  }

  it.each(['url', 'b64_json'])(
    'makes one image for twenty concurrent requests, answered with %s',
    async (format) => {
      const body = { ...IMAGE, prompt: `once ${format} [[work:0.3]]`, response_format: format };
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          post(IMAGES, keyed('twenty', body), index % 2 === 0 ? 0 : 1),
        ),
      );
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
      expect(answers.filter(({ headers }) => headers.get('idempotent-replayed') === 'true')).toHaveLength(19);
      for (const { headers } of answers) expect(headers.get('content-type')).toMatch(/^application\/json/);
      expect(await customer.charges()).toEqual(['settled']);
      expect(await customer.balance()).toEqual({ main: '0.98', held: '0' });
      expect(await asked('imagesRequests')).toBe(1);
    },
  );

  it('ignores the order of fields, and rejects a different value', async () => {
    const first = await post(IMAGES, keyed('order', { ...IMAGE, n: 1 }));
    const { model, prompt } = IMAGE;
    expect((await post(IMAGES, keyed('order', { n: 1, prompt, model }), 1)).text).toBe(first.text);
    for (const [path, body] of [
      [IMAGES, { ...IMAGE, n: 2 }],
      [IMAGES, { ...IMAGE, n: '1' }],
      ['/vendora/v1/images/generations', { ...IMAGE, n: 1 }],
    ] as const) {
      const other = await post(path, keyed('order', body));
      expect(other.status).toBe(400);
      expect(other.headers.get('x-should-retry')).toBe('false');
      expect(JSON.parse(other.text)).toMatchObject({
        error: { code: 'idempotency_key_reused', param: 'Idempotency-Key' },
      });
    }
    expect(await customer.charges()).toEqual(['settled']);
  });

  it('compares forms by their fields, because the boundary differs in every request', async () => {
    const form = (over: Record<string, string> = {}): RequestInit => {
      const body = new FormData();
      for (const [name, value] of Object.entries({ ...VIDEO, ...over })) body.set(name, value);
      return { method: 'POST', body, headers: { 'idempotency-key': 'aisdk_vid_1' } };
    };
    const answers = await Promise.all(
      [form(), form(), form()].map((init, i) => post('/v1/videos', init, i === 1 ? 1 : 0)),
    );
    const ids = answers.map(({ text }) => (JSON.parse(text) as { id: string }).id);
    expect(ids[0]).toMatch(/^[0-9a-z]{26}$/);
    expect(new Set(ids).size).toBe(1);
    expect((await post('/v1/videos', form({ seconds: '5' }))).status).toBe(400);
    expect(await customer.charges()).toHaveLength(1);
    expect(await asked('videoCreates')).toBe(1);
  });

  it("compares a form's files by their bytes", async () => {
    const png = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    );
    const form = (bytes: Buffer): RequestInit => {
      const body = new FormData();
      for (const [name, value] of Object.entries(IMAGE)) body.set(name, value);
      body.set('image', new Blob([new Uint8Array(bytes)], { type: 'image/png' }), 'dot.png');
      return { method: 'POST', body, headers: { 'idempotency-key': 'edit' } };
    };
    const first = await post('/v1/images/edits', form(png));
    expect(first.status).toBe(200);
    expect((await post('/v1/images/edits', form(png), 1)).text).toBe(first.text);
    expect((await post('/v1/images/edits', form(Buffer.concat([png, Buffer.alloc(1)])))).status).toBe(400);
    expect(await customer.charges()).toEqual(['settled']);
  });

  it('replays a stream unchanged, and charges it once', async () => {
    const body = { model: 'vendora-chat', stream: true, messages: [{ role: 'user', content: 'hello' }] };
    const first = await post('/v1/chat/completions', keyed('stream', body));
    expect(first.headers.get('content-type')).toMatch(/^text\/event-stream/);
    const again = await post('/v1/chat/completions', keyed('stream', body), 1);
    expect(again.text).toBe(first.text);
    expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'));
    expect(await customer.charges()).toEqual(['settled']);
    expect(await asked('textsBegun')).toBe(1);
  });

  it('makes one 3D asset and one charge for concurrent and later repeats', async () => {
    const init = keyed('chair', DRAFT);
    const answers = await Promise.all([0, 1, 0].map((gateway) => post('/v1/3d', init, gateway as 0 | 1)));
    answers.push(await post('/v1/3d', init, 1));
    const ids = answers.map(({ text }) => (JSON.parse(text) as { id: string }).id);
    expect(ids[0]).toMatch(/^[0-9a-z]{26}$/);
    expect(new Set(ids).size).toBe(1);
    const other = await post('/v1/3d', keyed('chair', { ...DRAFT, seed: 2 }));
    expect(other.status).toBe(400);
    expect(JSON.parse(other.text)).toMatchObject({ error: { code: 'idempotency_key_reused' } });
    expect(await customer.charges()).toHaveLength(1);
    expect(await asked('meshesAccepted')).toBe(1);
    await until('the end of the asset', async () => (await customer.charges())[0] === 'settled');
    expect(await customer.balance()).toEqual({ main: '0.9', held: '0' });
  });

  it.each([
    ['moderation', 400, 'content_policy_violation'],
    ['truncated', 502, 'generation_failed'],
  ])('stores the outcome of the upstream call: %s', async (fault, status, code) => {
    const init = keyed(fault, { ...IMAGE, prompt: `no [[fault:${fault}]]` });
    const first = await post(IMAGES, init);
    const again = await post(IMAGES, init, 1);
    for (const answer of [first, again]) {
      expect(answer.status).toBe(status);
      expect(JSON.parse(answer.text)).toMatchObject({ error: { code } });
    }
    expect(again.text).toBe(first.text);
    expect(again.headers.get('x-should-retry')).toBe('false');
    expect(await customer.charges()).toEqual(['released']);
  });

  it('can be used again if the request had no result', async () => {
    const busy = keyed('busy', { ...IMAGE, prompt: 'busy [[fault:reject-503]]' });
    expect((await post(IMAGES, busy)).status).toBe(503);
    expect((await post(IMAGES, busy, 1)).status).toBe(503);
    expect(await customer.charges()).toEqual(['released', 'released']);

    expect((await post(IMAGES, keyed('typing error', { ...IMAGE, n: 0 }))).status).toBe(400);
    expect((await post(IMAGES, keyed('typing error', IMAGE))).status).toBe(200);

    const { main } = await customer.balance();
    const poor = await pair.customer('0.01');
    const init = keyed('poor', IMAGE);
    expect((await poor.send(0, IMAGES, init)).status).toBe(403);
    expect((await poor.send(1, IMAGES, init)).status).toBe(403);
    expect(await poor.charges()).toEqual(['refused', 'refused']);
    expect((await customer.balance()).main).toBe(main);
  });

  it('belongs to one API key', async () => {
    const stranger = await pair.customer('1');
    const own = await post(IMAGES, keyed('shared', IMAGE));
    const theirs = await stranger.send(0, IMAGES, keyed('shared', { ...IMAGE, prompt: 'another' }));
    expect(theirs.status).toBe(200);
    expect(await theirs.text()).not.toBe(own.text);
  });

  it.each(['', 'x'.repeat(256), 'clé'])('rejects a key that is not a short text: %#', async (key) => {
    const answer = await post(IMAGES, keyed(key, IMAGE));
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.text)).toMatchObject({ error: { param: 'Idempotency-Key' } });
    expect(await customer.charges()).toEqual([]);
  });

  it('deletes a stored answer and its file when it expires', async () => {
    const init = keyed('old', { ...IMAGE, prompt: 'old', n: 3, response_format: 'b64_json' });
    await post(IMAGES, init);
    const files = () => readdir(join(pair.storageDir, 'answers'), { recursive: true });
    const { rows } = await pair.fixture.owner.query<{ answer_file: string | null }>(
      `UPDATE idempotency_keys SET expires_at = now() WHERE key_id = $1 RETURNING answer_file`,
      [customer.keyId],
    );
    const name = rows[0]?.answer_file?.replace('answers/', '') ?? '';
    expect((await files()).some((path) => path.endsWith(name))).toBe(true);
    expect((await post(IMAGES, init, 1)).headers.get('idempotent-replayed')).toBeNull();
    expect((await files()).some((path) => path.endsWith(name))).toBe(false);
    expect(await customer.charges()).toEqual(['settled', 'settled']);
  });

  it('is answered even if the first client disconnected early', async () => {
    upstream.shut(/left/);
    const init = keyed('left', { ...IMAGE, prompt: 'left' });
    const leaving = new AbortController();
    const first = customer.send(0, IMAGES, { ...init, signal: leaving.signal }).catch(() => 'left');
    await until('the hold', async () => (await customer.balance()).held === '0.02');
    leaving.abort();
    expect(await first).toBe('left');
    const again = post(IMAGES, init, 1);
    upstream.open();
    expect((await again).status).toBe(200);
    expect(await customer.charges()).toEqual(['settled']);
    expect(await asked('imagesRequests')).toBe(1);
  });

  it.each([
    ['/v1/chat/completions', 'vendora-chat'],
    ['/v1/messages', 'vendora-messages'],
  ])('is answered with a whole stream of %s whose client left before it began', async (path, model) => {
    upstream.shut(/left early/);
    const messages = [{ role: 'user', content: 'left early' }];
    const init = keyed('left early', { model, stream: true, max_tokens: 50, messages });
    const leaving = new AbortController();
    const first = customer.send(0, path, { ...init, signal: leaving.signal }).catch(() => 'left');
    await until('the work', async () => upstream.waiting === 1);
    leaving.abort();
    expect(await first).toBe('left');
    const again = post(path, init, 1);
    upstream.open();
    const { status, headers, text } = await again;
    expect({ status, type: headers.get('content-type') }).toMatchObject({
      status: 200,
      type: expect.stringMatching(/^text\/event-stream/),
    });
    expect(text).toContain('delta');
    expect(text).toMatch(/\[DONE\]|message_stop/);
    expect(await customer.charges()).toEqual(['settled']);
    expect(await asked('textsBegun')).toBe(1);
  });

  it('is answered with the whole of a stream that its client left in the middle', async () => {
    upstream.shut(/left midway/, 'answer');
    const messages = [{ role: 'user', content: 'left midway' }];
    const init = keyed('left midway', { model: 'vendora-chat', stream: true, messages });
    const leaving = new AbortController();
    const first = await customer.send(0, '/v1/chat/completions', { ...init, signal: leaving.signal });
    const { value: begun } = await first.body!.getReader().read();
    leaving.abort();
    const again = post('/v1/chat/completions', init, 1);
    upstream.open();
    const { status, text } = await again;
    expect(status).toBe(200);
    expect(text.startsWith(Buffer.from(begun).toString())).toBe(true);
    expect(text).toContain('[DONE]');
    expect(await customer.charges()).toEqual(['settled']);
    expect(await asked('textsBegun')).toBe(1);
  });

  it('can be used again if no upstream took the work of a client that left', async () => {
    upstream.shut(/left untaken/);
    const messages = [{ role: 'user', content: 'left untaken [[fault:reject-503]]' }];
    const init = keyed('left untaken', { model: 'vendora-chat', stream: true, messages });
    const leaving = new AbortController();
    const path = '/v1/chat/completions';
    const first = customer.send(0, path, { ...init, signal: leaving.signal }).catch(() => 'left');
    await until('the work', async () => upstream.waiting === 1);
    leaving.abort();
    expect(await first).toBe('left');
    const again = post(path, init, 1);
    upstream.open();
    expect((await again).status).toBe(503);
    expect(await customer.charges()).toEqual(['released', 'released']);
  });

  describe('when its gateway dies', () => {
    /** The row that a gateway leaves behind if it dies while working. */
    async function leaveBehind(key: string, path: string, body: object): Promise<string> {
      const { status } = await post(path, keyed(key, body));
      expect(status).toBe(200);
      const { rows } = await pair.fixture.owner.query<{ charge_id: string }>(
        `UPDATE idempotency_keys SET state = 'running', status = NULL, answer = NULL, answer_file = NULL,
           lease_until = now() + interval '0.3 s' WHERE key_id = $1 AND idempotency_key = $2 RETURNING charge_id`,
        [customer.keyId, key],
      );
      return rows[0]?.charge_id ?? '';
    }

    it("answers with the video's task, under either path, once the lease expires", async () => {
      const chargeId = await leaveBehind('dead video', '/v1/videos', VIDEO);
      const answer = await post('/v1/videos', keyed('dead video', VIDEO), 1);
      expect(answer.status).toBe(200);
      const { rows } = await pair.fixture.owner.query('SELECT id FROM tasks WHERE charge_id = $1', [
        chargeId,
      ]);
      expect(rows).toEqual([{ id: (JSON.parse(answer.text) as { id: string }).id }]);
      expect(await customer.charges()).toHaveLength(1);
      expect(await asked('videoCreates')).toBe(1);
    });

    it('answers with the task of the model that was accepted', async () => {
      const several = { ...VIDEO, model: 'dead-video', models: [VIDEO.model] };
      await leaveBehind('dead fallback', '/v1/videos', several);
      const answer = await post('/v1/videos', keyed('dead fallback', several), 1);
      expect(answer.status).toBe(200);
      expect(answer.headers.get('x-served-model')).toBe(VIDEO.model);
      expect(answer.headers.get('x-failed-models')).toBeNull();
      expect(JSON.parse(answer.text)).toMatchObject({ model: VIDEO.model });
      expect(await customer.charges()).toContain('released');
      expect(await customer.charges()).toHaveLength(2);
      expect(await asked('videoCreates')).toBe(1);
    });

    it('answers with an error for images, and never calls the upstream again', async () => {
      await leaveBehind('dead image', IMAGES, IMAGE);
      for (const gateway of [0, 1] as const) {
        const answer = await post(IMAGES, keyed('dead image', IMAGE), gateway);
        expect(answer.status).toBe(400);
        expect(answer.headers.get('x-should-retry')).toBe('false');
        expect(JSON.parse(answer.text)).toMatchObject({ error: { code: 'idempotency_outcome_unknown' } });
      }
      expect(await customer.charges()).toEqual(['settled']);
      expect(await asked('imagesRequests')).toBe(1);
    });

    it.each([
      ['starts over after a refused hold', { state: 'refused', polls: 0, sinceLease: '0 ms', creates: 2 }],
      [
        'starts over if every model turned it away',
        { state: 'failed', polls: 0, sinceLease: '0 ms', creates: 2 },
      ],
      [
        'answers with the task if a worker ended it',
        { state: 'failed', polls: 1, sinceLease: '0 ms', creates: 1 },
      ],
      [
        'answers with the task if that failed once the gateway was dead',
        { state: 'failed', polls: 0, sinceLease: '1 ms', creates: 1 },
      ],
    ])('%s', async (what, { state, polls, sinceLease, creates }) => {
      const chargeId = await leaveBehind(what, '/v1/videos', VIDEO);
      await pair.fixture.owner.query(
        `UPDATE tasks SET state = $2, upstream_id = NULL, next_poll_at = NULL, poll_attempts = $4,
           ended_at = (SELECT lease_until FROM idempotency_keys WHERE charge_id = $1) + $3::interval
         WHERE charge_id = $1`,
        [chargeId, state, sinceLease, polls],
      );
      const answer = await post('/v1/videos', keyed(what, VIDEO), 1);
      expect(answer.status).toBe(200);
      expect(await asked('videoCreates')).toBe(creates);
    });
  });
});

describe('Idempotency-Key of a stream that takes longer than an image may', () => {
  it('waits, since the gateway is alive, and answers with the same stream', async () => {
    const pair = await startPair({
      IDEMPOTENCY_LEASE_SECONDS: '12',
      IMAGE_REQUEST_LIMIT_SECONDS: '0.5',
      CHARGE_GRACE_SECONDS: '0.5',
    });
    const upstream = await GatedUpstream.before(pair.sandboxUrl, pair.fixture);
    try {
      const customer = await pair.customer('1');
      const ask = async (gateway: 0 | 1) => {
        const messages = [{ role: 'user', content: 'slowly' }];
        const response = await customer.send(gateway, '/v1/chat/completions', {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'idempotency-key': 'long' },
          body: JSON.stringify({ model: 'vendora-chat', stream: true, messages }),
        });
        const { status, headers } = response;
        return { status, isRepeat: headers.get('idempotent-replayed'), text: await response.text() };
      };
      upstream.shut(/slowly/);
      const first = ask(0);
      await until('the work', async () => upstream.waiting === 1);
      const second = ask(1);
      // The lease, an image's time and its grace have passed by then.
      const { rows } = await pair.fixture.owner.query<{ at: Date }>('SELECT now() AS at');
      await until('the times to be over', async () => {
        const passed = await pair.fixture.owner.query(
          `SELECT WHERE now() > $1::timestamptz + interval '14 s'`,
          [rows[0]!.at],
        );
        return passed.rowCount === 1;
      });
      upstream.open();
      const { text } = await second;
      expect(await first).toEqual({ status: 200, isRepeat: null, text });
      expect(text).toContain('[DONE]');
      expect(await customer.charges()).toEqual(['settled']);
      expect((await pair.stats()).textsBegun).toBe(1);
    } finally {
      await pair.close();
      await upstream.close();
    }
  });
});
