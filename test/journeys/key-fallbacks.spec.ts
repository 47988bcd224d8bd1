import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Person, person } from '../support/console.js';
import { addModel } from '../support/models.js';
import { closeClean, json, type Relay, startRelay, until } from '../support/relay.js';

const IMAGES = '/v1/images/generations';
const CHATS = '/v1/chat/completions';
const VIDEOS = '/v1/videos';
const IMAGE = { prompt: 'a lighthouse [[instant]]' };
const CHAT = { messages: [{ role: 'user', content: 'hello' }], max_tokens: 50 };

let relay: Relay;
let owner: Person;
let key: { apiKey: string; keyId: string };

beforeAll(async () => {
  relay = await startRelay();
  const nobody = { channel: 'dead', protocol: 'openai-xai', baseUrl: 'http://127.0.0.1:9' };
  await addModel(relay.fixture.owner, { id: 'dead-image', like: 'imgmodel-4', times: 10, ...nobody });
  await addModel(relay.fixture.owner, { id: 'dead-video', like: 'vidmodel-3', times: 10, ...nobody });
  await addModel(relay.fixture.owner, { id: 'dead-chat', like: 'vendora-chat', times: 10, ...nobody });
  const other = { channel: 'words', protocol: 'anthropic', baseUrl: relay.sandboxUrl };
  await addModel(relay.fixture.owner, { id: 'elsewhere', like: 'vendora-chat', ...other });
  await addModel(relay.fixture.owner, { id: 'cheap-image', like: 'vendora-imagine-image', ...nobody });
  await addModel(relay.fixture.owner, { id: 'one-image', like: 'imgmodel-4', ...nobody });
  await relay.fixture.owner.query(`UPDATE models SET limits = '{"maxImages": 1}' WHERE id = 'one-image'`);
  await addModel(relay.fixture.owner, { id: 'off-image', like: 'imgmodel-4', ...nobody, channel: 'off' });
  await relay.fixture.owner.query(`UPDATE channels SET enabled = false WHERE id = 'off'`);
  owner = await person(relay, { credits: '5' });
  key = await keyOf(owner, { fallbackModels: ['imgmodel-4', 'vendora-chat'] });
});
afterAll(() => closeClean(relay));

async function keyOf({ api }: Person, rules: { fallbackModels: string[]; totalLimit?: string }) {
  const { data } = await api.POST('/api/keys', { body: { name: 'safe', group: 'Vendora-Main', ...rules } });
  return data!;
}

const send = (path: string, body: object, { apiKey } = key) =>
  fetch(`${relay.baseUrl}${path}`, json(body, { authorization: `Bearer ${apiKey}` }));
const read = async (path: string) => {
  const response = await fetch(`${relay.baseUrl}${path}`, {
    headers: { authorization: `Bearer ${key.apiKey}` },
  });
  return (await response.json()) as Record<string, unknown>;
};
const headersOf = ({ headers }: Response) => [headers.get('x-served-model'), headers.get('x-failed-models')];

describe('the fallback models of a key', () => {
  it('serve if the requested model cannot, held and charged at their own price', async () => {
    const answer = await send(IMAGES, { model: 'dead-image', ...IMAGE });
    expect(answer.status).toBe(200);
    // The same fields as without a fallback, since the request names no list of models.
    expect(Object.keys((await answer.json()) as object)).not.toContain('model');
    expect(headersOf(answer)).toEqual(['imgmodel-4', 'dead-image=service_unavailable']);
    expect(await read(`/v1/charges/${answer.headers.get('x-request-id')}`)).toMatchObject({
      model: 'imgmodel-4',
      held: '0.03',
      charged: '0.03',
      attempts: [
        { model: 'dead-image', state: 'released' },
        { model: 'imgmodel-4', state: 'settled', code: null },
      ],
    });
    expect(await read('/v1/key')).toMatchObject({ fallback_models: ['imgmodel-4', 'vendora-chat'] });
  });

  it.each([false, true])('are skipped if they have another type, stream: %p', async (stream) => {
    const answer = await send(CHATS, { model: 'dead-chat', stream, ...CHAT });
    expect(await answer.text()).toContain('"model":"vendora-chat"');
    const failed = 'dead-chat=service_unavailable, imgmodel-4=model_not_supported_here';
    expect(headersOf(answer)).toEqual(['vendora-chat', failed]);
  });

  it('serve for a video', async () => {
    const other = await keyOf(owner, { fallbackModels: ['imgmodel-4', 'vidmodel-3'] });
    const answer = await send(VIDEOS, { model: 'dead-video', prompt: 'a boat', seconds: '2' }, other);
    expect(answer.status).toBe(200);
    const failed = 'dead-video=service_unavailable, imgmodel-4=model_not_supported_here';
    expect(headersOf(answer)).toEqual(['vidmodel-3', failed]);
  });

  it('serve for a model that no vendor offers here', async () => {
    const answer = await send(CHATS, { model: 'elsewhere', ...CHAT });
    expect(answer.status).toBe(200);
    expect(headersOf(answer)[0]).toBe('vendora-chat');
  });

  it('serve for a model whose channels are all switched off', async () => {
    const answer = await send(IMAGES, { model: 'off-image', ...IMAGE });
    expect(answer.status).toBe(200);
    expect(headersOf(answer)).toEqual(['imgmodel-4', 'off-image=model_not_found']);
  });

  it('are skipped if the request exceeds their limits', async () => {
    const other = await keyOf(owner, { fallbackModels: ['one-image', 'imgmodel-4'] });
    const answer = await send(IMAGES, { model: 'dead-image', n: 2, ...IMAGE }, other);
    expect(answer.status).toBe(200);
    const failed = 'dead-image=service_unavailable, one-image=invalid_value';
    expect(headersOf(answer)).toEqual(['imgmodel-4', failed]);
  });

  it.each<[string, string, { fallbackModels: string[]; totalLimit?: string }, object]>([
    ['makes fewer images', '5', { fallbackModels: ['one-image'] }, { n: 2 }],
    ['costs more than the balance', '0.025', { fallbackModels: ['imgmodel-4'] }, {}],
    ['costs more than the key may spend', '5', { fallbackModels: ['imgmodel-4'], totalLimit: '0.025' }, {}],
  ])('keep the answer for a busy model retryable if the fallback %s', async (_what, credits, rules, rest) => {
    const other = await person(relay, { credits });
    const body = { model: 'cheap-image', ...IMAGE, ...rest };
    const answer = await send(IMAGES, body, await keyOf(other, rules));
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).not.toBeNull();
    expect(await answer.json()).toMatchObject({
      error: { code: 'service_unavailable', message: expect.stringContaining('cheap-image') },
    });
    const { data } = await other.api.GET('/api/account');
    expect(data).toMatchObject({ balance: { main: credits, held: '0' } });
  });

  it('do not change the answer of a dry run for the named model', async () => {
    const other = await keyOf(owner, { fallbackModels: ['one-image'] });
    const answer = await send(IMAGES, { model: 'off-image', n: 2, dry_run: true, ...IMAGE }, other);
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({ error: { code: 'model_not_found' } });
  });

  it('are shown by a dry run', async () => {
    const answer = await send(IMAGES, { model: 'dead-image', dry_run: true, ...IMAGE });
    expect(await answer.json()).toMatchObject({
      models: [{ model: 'dead-image' }, { model: 'imgmodel-4', amount: '0.03' }, { model: 'vendora-chat' }],
    });
  });

  it.each<[string, object, number, string]>([
    ['a request with a list of its own', { model: 'dead-image', models: [] }, 503, 'service_unavailable'],
    ['a wrong name', { model: 'imgmodel-5' }, 404, 'model_not_found'],
    ['a list of its own and no channel', { model: 'off-image', models: [] }, 404, 'model_not_found'],
    ['the same in a dry run', { model: 'imgmodel-5', dry_run: true }, 404, 'model_not_found'],
    ['a model of another path', { model: 'dead-chat' }, 400, 'model_not_supported_here'],
    [
      'what the vendor refuses',
      { model: 'vendora-imagine-image', prompt: '[[fault:reject-400]]' },
      400,
      'upstream_rejected',
    ],
  ])('do not serve for %s', async (_what, body, status, code) => {
    const answer = await send(IMAGES, { ...IMAGE, ...body });
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({ error: { code } });
  });

  it('hold nothing for a model that the key may not use', async () => {
    const params = { path: { keyId: key.keyId } };
    const rules = { allowedModels: ['dead-image', 'vendora-chat'] };
    await owner.api.PATCH('/api/keys/{keyId}', { params, body: rules });
    const answer = await send(IMAGES, { model: 'dead-image', ...IMAGE });
    expect(answer.status).toBe(503);
    await owner.api.PATCH('/api/keys/{keyId}', { params, body: { allowedModels: null } });
  });

  it('stop when the rule is removed', async () => {
    const params = { path: { keyId: key.keyId } };
    await owner.api.PATCH('/api/keys/{keyId}', { params, body: { fallbackModels: null } });
    await until('the rule is gone', async () => (await read('/v1/key'))['fallback_models'] === null);
    expect((await send(IMAGES, { model: 'dead-image', ...IMAGE })).status).toBe(503);
  });
});
