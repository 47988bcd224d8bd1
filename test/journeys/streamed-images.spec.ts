import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeClean, type Customer, json, type Relay, startRelay, until } from '../support/relay.js';

/** One pixel. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

let relay: Relay;

beforeAll(async () => {
  relay = await startRelay();
  const { owner } = relay.fixture;
  await owner.query(
    `INSERT INTO channels (id, protocol, base_url, api_key) VALUES ('streaming', 'openai', $1, 'sandbox-key')`,
    [relay.sandboxUrl],
  );
  await owner.query(`INSERT INTO channel_groups VALUES ('streaming', 'Vendora-Main')`);
  for (const [id, unit] of [
    ['drawn', 'call'],
    ['drawn-by-tokens', 'token'],
  ]) {
    await owner.query(`INSERT INTO models (id, family, unit, owned_by) VALUES ($1, 'image', $2, 'vendora')`, [
      id,
      unit,
    ]);
    await owner.query(`INSERT INTO group_models (group_name, model_id) VALUES ('Vendora-Main', $1)`, [id]);
    await owner.query(`INSERT INTO channel_models VALUES ('streaming', $1, 'gpt-image-1')`, [id]);
  }
  await owner.query(`INSERT INTO price_versions (model_id, unit_price) VALUES ('drawn', 0.04)`);
  await owner.query(
    `INSERT INTO price_versions (model_id, input_price, cached_input_price, output_price, media_prices)
     VALUES ('drawn-by-tokens', 5, 1.25, 10, '{"image_input": "8", "image_output": "32"}')`,
  );
});
afterAll(() => closeClean(relay));

const spent = async (customer: Customer) =>
  until('the charge to end', async () => {
    const { main, held } = await customer.balance();
    return held === '0' && main !== '1' && main;
  });

describe('a streamed image, by the OpenAI SDK', () => {
  it('comes with partial images, and is charged once before its last event', async () => {
    const customer = await relay.customer('1');
    const stream = await customer
      .sdk()
      .images.generate({ model: 'drawn', prompt: 'a boat', stream: true, partial_images: 2 });
    const events: string[] = [];
    for await (const event of stream) {
      events.push(event.type);
      if (event.type !== 'image_generation.completed') continue;
      expect(Buffer.from(event.b64_json, 'base64').subarray(1, 4).toString()).toBe('PNG');
      expect(event.usage).toMatchObject({ output_tokens: 472 });
      expect(await customer.balance()).toEqual({ main: '0.96', held: '0' });
    }
    const partial = 'image_generation.partial_image';
    expect(events).toEqual([partial, partial, 'image_generation.completed']);
  });

  it('of an edit costs the tokens of its input and output images', async () => {
    const customer = await relay.customer('1');
    const image = new File([Buffer.from(PNG, 'base64')], 'boat.png', { type: 'image/png' });
    const wanted = {
      model: 'drawn-by-tokens',
      prompt: 'a boat',
      image,
      stream: true,
      partial_images: 1,
    } as const;
    const events: string[] = [];
    for await (const event of await customer.sdk().images.edit(wanted)) events.push(event.type);
    expect(events).toEqual(['image_edit.partial_image', 'image_edit.completed']);
    // 1 - (2 x 5 + 272 x 8 + 372 x 32) / 1e6: two words, the input image, and the edited image.
    expect(await spent(customer)).toBe('0.98591');
  });

  it('is finished and charged if its client disconnects', async () => {
    const customer = await relay.customer('1');
    const left = new AbortController();
    const body = { model: 'drawn', prompt: 'a boat [[fault:slow-bytes]]', stream: true, partial_images: 3 };
    const response = await customer.send('/v1/images/generations', { ...json(body), signal: left.signal });
    await response.body!.getReader().read();
    left.abort();
    expect(await spent(customer)).toBe('0.96');
  });

  it('is quoted like its hold', async () => {
    const customer = await relay.customer('1');
    const body = { model: 'drawn', prompt: 'a boat', stream: true, dry_run: true };
    const response = await customer.send('/v1/images/generations', json(body));
    expect(await response.json()).toMatchObject({ models: [{ amount: '0.04' }] });
  });

  it.each([
    ['several', { n: 2 }, 'n'],
    ['by address', { response_format: 'url' }, 'response_format'],
    ['too many before it', { partial_images: 4 }, 'partial_images'],
  ])('is rejected: %s', async (_what, more, param) => {
    const customer = await relay.customer('1');
    const body = json({ model: 'drawn', prompt: 'a boat', stream: true, ...more });
    const response = await customer.send('/v1/images/generations', body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param } });
  });

  it('of an edit is quoted without its image being fetched', async () => {
    const customer = await relay.customer('1');
    const edit = { model: 'drawn', prompt: 'a boat', stream: true, partial_images: 1 };
    const nobodyThere = { image: { url: 'http://127.0.0.1:9/a.png' } };
    const quoted = await customer.send('/v1/images/edits', json({ ...edit, ...nobodyThere, dry_run: true }));
    expect(await quoted.json()).toMatchObject({
      models: [{ model: 'drawn', available: true, amount: '0.04' }],
    });
    const sent = await customer.send('/v1/images/edits', json({ ...edit, ...nobodyThere }));
    expect(sent.status).toBe(400);
  });

  it('is rejected if no vendor of the model streams, and costs nothing', async () => {
    const customer = await relay.customer('1');
    const body = json({ model: 'vendora-imagine-image', prompt: 'a boat', stream: true });
    const response = await customer.send('/v1/images/generations', body);
    expect(response.status).toBe(404);
    expect(await customer.balance()).toEqual({ main: '1', held: '0' });
  });
});
