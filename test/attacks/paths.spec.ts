import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { closeClean, type Relay, startRelay } from '../support/relay.js';

/** Each makes a router copy the whole path. */
const COSTLY = '%25'.repeat(4_000);

let relay: Relay;
beforeAll(async () => {
  relay = await startRelay();
});
afterAll(() => closeClean(relay));

it.each(['/', '/v1/models/', '/v1beta/models/', '/v1/videos/', '/api/', '/assets/'])(
  'a path below %s that is too long is refused before it is decoded',
  async (base) => {
    for (const origin of [relay.baseUrl, relay.consoleUrl]) {
      const answer = await fetch(`${origin}${base}${COSTLY}`);
      expect(answer.status).toBe(400);
      expect(await answer.text()).toContain('too long');
    }
  },
);

it('a query may be longer, and the longest ID of a model is still looked for', async () => {
  const escaped = '%F0%9F%8E%A8'.repeat(100);
  const { apiKey } = await relay.customer('0');
  const headers = { authorization: `Bearer ${apiKey}` };
  for (const path of [`/v1/models/${escaped}`, `/v1/models/none?${'a=%25&'.repeat(1_500)}`]) {
    const answer = await fetch(relay.baseUrl + path, { headers });
    expect(await answer.json()).toMatchObject({ error: { code: 'model_not_found' } });
  }
});

it('what anyone may read of the API is not serialized for each of them', async () => {
  const documents = [`${relay.baseUrl}/openapi.json`, `${relay.consoleUrl}/api/openapi.json`];
  for (const url of documents) {
    const first = await (await fetch(url)).json();
    const serialize = vi.spyOn(JSON, 'stringify');
    const again = await fetch(url);
    const serialized = serialize.mock.results.map(({ value }) => String(value).length);
    serialize.mockRestore();
    expect(again.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await again.json()).toEqual(first);
    expect(Math.max(0, ...serialized)).toBeLessThan(10_000);
  }
});
