import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signGrant } from '#identity/console-grant.js';
import { GatedUpstream } from '../support/gated-upstream.js';
import { type Person, person } from '../support/console.js';
import { closeClean, json, type Relay, startRelay, until } from '../support/relay.js';

const SECRET = 'a secret that the tests and the relay share';
const IMAGE = { model: 'vendora-imagine-image', prompt: 'a cat', response_format: 'b64_json' };

let relay: Relay;
let upstream: GatedUpstream;

beforeAll(async () => {
  relay = await startRelay({ CONSOLE_GRANT_SECRET: SECRET, TRUST_PROXY: 'true' });
  upstream = await GatedUpstream.before(relay.sandboxUrl, relay.fixture);
});
afterAll(async () => {
  await closeClean(relay);
  await upstream.close();
});

interface Player extends Person {
  keyId: string;
  /** Calls a path in the playground with the person's key. */
  play(path: string, init?: RequestInit): Promise<Response>;
}

async function player(rules: Record<string, unknown> = {}, credits = '5'): Promise<Player> {
  const someone = await person(relay, { credits });
  const { data } = await someone.api.POST('/api/keys', {
    body: { name: 'a key', group: 'Vendora-Main', ...rules },
  });
  const { keyId } = data!;
  return {
    ...someone,
    keyId,
    play: (path, init = {}) =>
      fetch(`${relay.consoleUrl}/api/playground/v1/${path}`, {
        ...init,
        headers: { ...someone.headers, 'x-tollgate-key': keyId, ...(init.headers as Record<string, string>) },
      }),
  };
}

const codeOf = async (response: Response) =>
  [response.status, ((await response.json()) as { error: { code: string } }).error.code] as const;

/** The account's charges, once ended. */
async function chargesOf({ accountId }: Person): Promise<{ keyId: string; settled: bigint }[]> {
  const { rows } = await relay.fixture.billing.query<{ keyId: string; settled: bigint }>(
    `SELECT key_id AS "keyId", settled FROM charges WHERE account_id = $1 AND state = 'settled'`,
    [accountId],
  );
  return rows;
}

describe('calls from the console', () => {
  it('count as calls by the key that is named', async () => {
    const someone = await player();
    const response = await someone.play('images/generations', json(IMAGE));
    expect(response.status).toBe(200);
    const { data } = (await response.json()) as { data: { b64_json: string }[] };
    expect(Buffer.from(data[0]!.b64_json, 'base64').subarray(1, 4).toString()).toBe('PNG');
    expect(await until('the charge', async () => (await chargesOf(someone))[0])).toEqual({
      keyId: someone.keyId,
      settled: 20_000_000n,
    });
    const { items } = (await someone.api.GET('/api/usage')).data!;
    expect(items[0]).toMatchObject({ keyId: someone.keyId, requestId: response.headers.get('x-request-id') });

    const models = (await (await someone.play('models')).json()) as { data: { id: string }[] };
    expect(models.data.map(({ id }) => id)).toContain('vendora-imagine-video');
    expect(relay.logged()).not.toContain('tg-grant.');
  });

  it('accept files, and pass on the gateway’s answers', async () => {
    const someone = await player();
    const picture = (await (await someone.play('images/generations', json(IMAGE))).json()) as {
      data: { b64_json: string }[];
    };
    const form = new FormData();
    form.set('model', 'vendora-imagine-edit');
    form.set('prompt', 'a hat on it');
    form.set('response_format', 'b64_json');
    form.set(
      'image',
      new Blob([Buffer.from(picture.data[0]!.b64_json, 'base64')], { type: 'image/png' }),
      'a.png',
    );
    const edited = await someone.play('images/edits', { method: 'POST', body: form });
    expect(edited.status).toBe(200);
    expect(await codeOf(await someone.play('images/edits', json('{')))).toEqual([400, 'invalid_json']);
    expect(await codeOf(await someone.play('images/generations', json({ ...IMAGE, n: 'x' })))).toEqual([
      400,
      'invalid_type',
    ]);
    // Larger than the gateway would ever read: it says so, however much of it was sent.
    const large = await someone
      .play('images/generations', json({ ...IMAGE, prompt: 'x'.repeat(400_000) }))
      .then(codeOf);
    expect(large).toEqual([413, 'request_too_large']);
    const endless = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(64 * 1024).fill(0x20)),
    });
    const chunked = { method: 'POST', body: endless, duplex: 'half' } as RequestInit;
    expect(await codeOf(await someone.play('images/generations', chunked))).toEqual([
      413,
      'request_too_large',
    ]);
    // A gateway may refuse before it has read the whole body.
    const bound = await player({ allowedIps: ['203.0.113.7'] });
    const early = await bound.play('chat/completions', json({ pad: 'x'.repeat(15_000_000) }));
    expect(await codeOf(early)).toEqual([403, 'ip_not_allowed']);
  });

  it('stream what is written as it is written', async () => {
    const someone = await player();
    const { data } = await someone.api.GET('/api/public/prices', { params: { query: { family: 'chat' } } });
    const model = data!.items.find(({ groups }) => groups.some(({ group }) => group === 'Vendora-Main'))!.id;
    const response = await someone.play(
      'chat/completions',
      json({ model, stream: true, messages: [{ role: 'user', content: 'tell [[tokens:20]]' }] }),
    );
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    expect(await response.text()).toMatch(/^data: \{.*data: \[DONE\]\s*$/s);
  });

  it('are refused by the rules of the key, for the address of the person', async () => {
    const bound = await player({ allowedIps: ['203.0.113.7'] });
    const from = (ip: string) => ({ headers: { 'x-forwarded-for': ip } });
    const body = JSON.stringify(IMAGE);
    const draw = (ip: string) =>
      bound.play('images/generations', {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json', ...from(ip).headers },
      });
    expect(await codeOf(await draw('203.0.113.8'))).toEqual([403, 'ip_not_allowed']);
    expect((await draw('203.0.113.7')).status).toBe(200);
    const limited = await player({ allowedModels: ['vendora-imagine-video'] });
    expect((await codeOf(await limited.play('images/generations', json(IMAGE))))[1]).toMatch(/^model_not_/);
    const poor = await player({}, '0');
    expect(await codeOf(await poor.play('images/generations', json(IMAGE)))).toEqual([
      403,
      'insufficient_user_quota',
    ]);
  });

  it('need an active key of one’s own, and a page of ours', async () => {
    const [someone, other] = [await player(), await player()];
    const draw = (headers: Record<string, string>) =>
      someone.play('images/generations', json(IMAGE, headers)).then(codeOf);
    expect(await draw({ 'x-tollgate-key': other.keyId })).toEqual([404, 'not_found']);
    expect(await draw({ 'x-tollgate-key': 'nonsense' })).toEqual([404, 'not_found']);
    expect(await draw({ 'x-csrf-token': 'x' })).toEqual([403, 'csrf_rejected']);
    expect(await draw({ origin: 'https://evil.example' })).toEqual([403, 'csrf_rejected']);
    const nameless = await fetch(`${relay.consoleUrl}/api/playground/v1/models`, {
      headers: someone.headers,
    });
    expect(await codeOf(nameless)).toEqual([400, 'missing_required_parameter']);
    await someone.api.DELETE('/api/keys/{keyId}', { params: { path: { keyId: someone.keyId } } });
    expect(await draw({})).toEqual([404, 'not_found']);
    expect((await someone.play('chat/completions/x', json({}))).status).toBe(404);
  });

  it('end at the upstream when the person leaves', async () => {
    const someone = await player();
    const leaving = new AbortController();
    upstream.shut(/slowly/);
    const asked = someone.play('images/generations', {
      ...json({ ...IMAGE, prompt: 'slowly' }),
      signal: leaving.signal,
    });
    await until('the hold', async () => {
      const { rows } = await relay.fixture.billing.query(
        `SELECT FROM charges WHERE account_id = $1 AND state = 'held'`,
        [someone.accountId],
      );
      return rows.length > 0;
    });
    leaving.abort();
    await expect(asked).rejects.toThrow();
    upstream.open();
    await until('the end of the charge', async () => {
      const { rows } = await relay.fixture.billing.query(
        `SELECT FROM charges WHERE account_id = $1 AND state <> 'held'`,
        [someone.accountId],
      );
      return rows.length > 0;
    });
  });
});

describe('grants', () => {
  const ask = (token: string, path = '/v1/models') =>
    fetch(relay.baseUrl + path, { headers: { authorization: `Bearer ${token}` } });

  it('work for a minute, for their key only, and not at all if they are not ours', async () => {
    const { accountId, keyId } = await player();
    const grant = { audience: 'call', accountId, keyId, ip: '127.0.0.1' } as const;
    expect((await ask(signGrant(SECRET, grant, Date.now()))).status).toBe(200);
    for (const token of [
      signGrant(SECRET, grant, Date.now() - 61_000),
      signGrant(SECRET, { ...grant, accountId: '0'.repeat(26) }, Date.now()),
      signGrant(`${SECRET}!`, grant, Date.now()),
      signGrant(SECRET, { ...grant, audience: 'file' }, Date.now()),
    ])
      expect(await codeOf(await ask(token))).toEqual([401, 'invalid_api_key']);
  });
});

describe('the file of a task', () => {
  it('is shown, cached, and sent in part, even if its key is gone, but to nobody else', async () => {
    const someone = await player();
    const made = await someone.play(
      'videos',
      json({ model: 'vendora-imagine-video', prompt: 'a boat', seconds: '4' }),
    );
    const { id } = (await made.json()) as { id: string };
    const url = `${relay.consoleUrl}/api/tasks/${id}/content`;
    const get = (headers: Record<string, string> = {}, query = '') =>
      fetch(url + query, { headers: { cookie: someone.headers.cookie, ...headers } });
    const show = () => someone.api.GET('/api/tasks/{taskId}', { params: { path: { taskId: id } } });
    const early = await get();
    if (early.status !== 200) expect(await codeOf(early)).toEqual([400, 'video_not_ready']);
    await until('the video', async () => (await show()).data?.file?.available);
    await someone.api.DELETE('/api/keys/{keyId}', { params: { path: { keyId: someone.keyId } } });

    const whole = await get();
    expect(whole.status).toBe(200);
    expect(whole.headers.get('content-type')).toBe('video/mp4');
    expect(whole.headers.get('content-disposition')).toBe(`inline; filename="${id}.mp4"`);
    const bytes = Buffer.from(await whole.arrayBuffer());
    expect(bytes.length).toBe((await show()).data!.file!.bytes);
    const part = await get({ range: 'bytes=4-7' }, '?download=true');
    expect(part.status).toBe(206);
    expect(part.headers.get('content-range')).toBe(`bytes 4-7/${bytes.length}`);
    expect(part.headers.get('content-disposition')).toMatch(/^attachment;/);
    expect(await part.text()).toBe('ftyp');
    expect((await get({ 'if-none-match': whole.headers.get('etag')! })).status).toBe(304);
    expect((await get({ range: `bytes=${bytes.length}-` })).status).toBe(416);

    const stranger = await person(relay);
    const foreign = await fetch(url, { headers: { cookie: stranger.headers.cookie } });
    expect(await codeOf(foreign)).toEqual([404, 'not_found']);
    await relay.fixture.owner.query(`UPDATE tasks SET expires_at = now() WHERE id = $1`, [id]);
    expect(await codeOf(await get())).toEqual([404, 'video_expired']);
  });
});
