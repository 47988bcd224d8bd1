import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import OpenAI from 'openai';
import { instantPng as PNG } from '#apps/sandbox-upstream/images.js';
import { addModel } from '../support/models.js';
import { closeClean, type Customer, json, type Relay, startRelay } from '../support/relay.js';

const MODEL = 'vendora-imagine-edit';
const EDITS = '/v1/images/edits';
const B64 = PNG.toString('base64');

interface Edited {
  data: { url?: string; b64_json?: string; mime_type?: string }[];
  usage: { cost_in_usd_ticks: number };
}

describe('image edits', () => {
  let relay: Relay;
  let pictures: Server;

  beforeAll(async () => {
    relay = await startRelay();
    pictures = createServer((_request, response) => response.end(PNG));
    await new Promise<void>((resolve) => pictures.listen(0, '127.0.0.1', resolve));
    const nobody = { channel: 'dead', protocol: 'openai-xai', baseUrl: 'http://127.0.0.1:9' };
    await addModel(relay.fixture.owner, { id: 'dead-edit', like: MODEL, times: 10, ...nobody });
  });
  afterAll(async () => {
    pictures.close();
    await closeClean(relay);
  });

  const addressOfPicture = () => `http://127.0.0.1:${(pictures.address() as AddressInfo).port}/a.png`;
  const file = (name = 'a.png') => new File([PNG], name, { type: 'image/png' });

  it.each(['/v1', '/vendora/v1'])(
    'are made with the OpenAI SDK below %s, and answered in both formats',
    async (path) => {
      const customer = await relay.customer('1');
      const edited = await customer.sdk({ path }).images.edit({
        model: MODEL,
        prompt: 'at night',
        image: [file(), file('b.png')],
        mask: file('mask.png'),
        n: 2,
      });
      expect(edited.data).toHaveLength(2);
      for (const image of edited.data ?? []) {
        const bytes = Buffer.from(image.b64_json ?? '', 'base64');
        expect(bytes.subarray(0, 4).toString('latin1')).toBe('\x89PNG');
        const link = await fetch(image.url ?? '');
        expect(Buffer.from(await link.arrayBuffer())).toEqual(bytes);
      }
      expect(await customer.balance()).toEqual({ main: '0.96', held: '0' });
    },
  );

  it('fall back to another model, as JSON and as a form, and are priced by a dry run', async () => {
    const customer = await relay.customer('1');
    const several = { model: 'dead-edit', models: [MODEL], prompt: 'at night' };
    const { images } = customer.sdk();
    const priced = { object: 'dry_run', models: [{ model: 'dead-edit' }, { model: MODEL, amount: '0.02' }] };
    const unsent = { ...several, image: file(), dry_run: true };
    const dry: unknown = await images.edit(unsent);
    expect(dry).toMatchObject(priced);
    const dryJson = await customer.send(EDITS, json({ ...several, image: B64, dry_run: true }));
    expect(await dryJson.json()).toMatchObject(priced);
    expect(await customer.balance()).toEqual({ main: '1', held: '0' });
    const failed = 'dead-edit=service_unavailable';
    const { data, response } = await images.edit({ ...several, image: file() }).withResponse();
    expect(data).toMatchObject({ model: MODEL, data: [{ url: expect.any(String) as string }] });
    const answer = await customer.send(EDITS, json({ ...several, image: B64 }));
    expect(await answer.json()).toMatchObject({ model: MODEL });
    for (const { headers } of [response, answer])
      expect([headers.get('x-served-model'), headers.get('x-failed-models')]).toEqual([MODEL, failed]);
    expect(await customer.balance()).toEqual({ main: '0.96', held: '0' });
  });

  it('are answered in the requested format only', async () => {
    const customer = await relay.customer('1');
    const sdk = customer.sdk();
    const common = { model: MODEL, prompt: 'at night', image: file() };
    const url = await sdk.images.edit({ ...common, response_format: 'url' });
    expect(Object.keys(url.data?.[0] ?? {})).not.toContain('b64_json');
    const b64 = await sdk.images.edit({ ...common, response_format: 'b64_json' });
    expect(Object.keys(b64.data?.[0] ?? {})).not.toContain('url');
  });

  it.each<[string, object]>([
    ['a data URL in an object', { image: { url: `data:image/png;base64,${B64}`, type: 'image_url' } }],
    ['base64', { image: B64 }],
    ['a list of objects', { images: [{ url: `data:image/png;base64,${B64}` }, { b64_json: B64 }] }],
    ['image_url', { image: { image_url: `data:image/png;base64,${B64}` } }],
  ])('are made from JSON with %s', async (_what, picture) => {
    const customer = await relay.customer('1');
    const edited = await edit(customer, { ...picture, response_format: 'b64_json' });
    expect(edited.data[0]?.mime_type).toBe('image/png');
    expect(edited.usage).toEqual({ cost_in_usd_ticks: 200_000_000 });
    expect(await customer.balance()).toEqual({ main: '0.98', held: '0' });
  });

  it('fetch an image by its URL, but not from inside the network', async () => {
    const customer = await relay.customer('1');
    for (const image of [
      addressOfPicture(),
      'http://169.254.169.254/latest/meta-data',
      'http://localhost:1/x',
    ]) {
      const response = await customer.send(EDITS, json({ model: MODEL, prompt: 'x', image: { url: image } }));
      expect(response.status).toBe(400);
      const { error } = (await response.json()) as {
        error: { code: string; param: string; message: string };
      };
      expect(error).toMatchObject({ code: 'invalid_image', param: 'image' });
      // Nothing that would reveal what answers there.
      expect(error.message).toBe(
        'image could not be fetched: send a data URL, or an address that is public and quick.',
      );
    }
    expect(await customer.balance()).toEqual({ main: '1', held: '0' });

    const inside = await startRelay({ PICTURE_URLS_MAY_BE_PRIVATE: 'true' });
    try {
      const edited = await edit(await inside.customer('1'), { image: addressOfPicture() });
      expect(edited.data).toHaveLength(1);
    } finally {
      await inside.close();
    }
  });

  it.each<[string, object, number, string]>([
    ['no image', {}, 400, 'missing_required_parameter'],
    [
      'an image that is a text',
      { image: Buffer.from('hello there').toString('base64') },
      400,
      'invalid_image',
    ],
    ['a GIF', { image: Buffer.from('GIF89a..........').toString('base64') }, 400, 'invalid_image'],
    ['an invalid mask', { image: B64, mask: 'x!' }, 400, 'invalid_image'],
    ['a video model', { image: B64, model: 'vendora-imagine-video' }, 400, 'model_not_supported_here'],
    ['a model of another group', { image: B64, model: 'imgmodel-lite' }, 404, 'model_not_found'],
  ])('refuse %s before anything is held', async (_what, fields, status, code) => {
    const customer = await relay.customer('1');
    const response = await customer.send(EDITS, json({ model: MODEL, prompt: 'x', ...fields }));
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { code } });
    expect(await customer.balance()).toEqual({ main: '1', held: '0' });
  });

  it('cost nothing if the upstream refuses, and are not retried by the SDK', async () => {
    const customer = await relay.customer('1');
    let calls = 0;
    const counting: typeof fetch = (input, init) => {
      if (typeof input === 'string' && !input.startsWith('data:')) calls += 1;
      return fetch(input, init);
    };
    const error: unknown = await customer
      .sdk({ retries: 2, fetch: counting })
      .images.edit({ model: MODEL, prompt: 'no [[fault:moderation]]', image: file() })
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect(error).toMatchObject({ code: 'content_policy_violation' });
    expect(calls).toBe(1);
    expect(await customer.balance()).toEqual({ main: '1', held: '0' });
  });

  it('refuse what is too large, in a form and in JSON', async () => {
    const customer = await relay.customer('1');
    const big = Buffer.alloc(51 * 1024 * 1024);
    PNG.copy(big);
    const form = new FormData();
    form.set('model', MODEL);
    form.set('prompt', 'x');
    form.append('image', new File([big], 'big.png', { type: 'image/png' }));
    const inForm = await customer.send(EDITS, { method: 'POST', body: form });
    expect(inForm.status).toBe(413);
    const inJson = await customer.send(
      EDITS,
      json({ model: MODEL, prompt: 'x', image: big.toString('base64') }),
    );
    expect(inJson.status).toBe(413);
    expect(await inJson.json()).toMatchObject({ error: { code: 'request_too_large' } });
    expect(await customer.balance()).toEqual({ main: '1', held: '0' });
  });

  async function edit(customer: Customer, fields: object): Promise<Edited> {
    const response = await customer.send(EDITS, json({ model: MODEL, prompt: 'at night', ...fields }));
    const answer = (await response.json()) as Edited;
    expect({ status: response.status, answer }).toMatchObject({ status: 200 });
    return answer;
  }
});
