import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { amountOf } from '#apps/console/user/usage/recompute.js';
import { parseAmount } from '#money/amount.js';
import { person, visitor } from '../support/console.js';
import { type Customer, json, type Relay, startRelay, until } from '../support/relay.js';

let relay: Relay;
let customer: Customer;

beforeAll(async () => {
  relay = await startRelay();
  customer = await relay.customer('5');
});
afterAll(() => relay?.close());

type Asked = Record<string, string | number> & { model: string };

async function quoteForAll(asked: Asked, api = visitor(relay)) {
  const query = { group: 'Vendora-Main', ...asked };
  const { data, error, response } = await api.GET('/api/public/quote', { params: { query } });
  return { data, error: error?.error, status: response.status, response };
}

describe('a public quote', () => {
  it('is what the call then costs a customer, line by line', async () => {
    const { data } = await quoteForAll({ model: 'imgmodel-4', n: 3 });
    expect(amountOf({ unitPrice: data!.unitPrice!, units: data!.units }, data!.multiplier)).toBe(
      data!.amount,
    );
    const before = await customer.balance();
    const call = json({ model: 'imgmodel-4', prompt: 'three boats', n: 3 });
    expect((await customer.send('/v1/images/generations', call)).status).toBe(200);
    const after = await customer.balance();
    expect(parseAmount(before.main) - parseAmount(after.main)).toBe(parseAmount(data!.amount));
  });

  it('takes seconds and tokens like a customer’s quote', async () => {
    expect((await quoteForAll({ model: 'vidmodel-3', seconds: 4 })).data).toMatchObject({ amount: '0.2' });
    const tokens = { 'tokens.input': 1_000, 'tokens.output': 10 };
    expect((await quoteForAll({ model: 'vendora-chat', ...tokens })).data).toMatchObject({
      amount: '0.0026',
      unitPrice: null,
      lines: [{ amount: '0.0025' }, { amount: '0' }, { amount: '0.0001' }],
    });
  });

  it('reveals no balances, and estimates no text', async () => {
    const { data } = await quoteForAll({ model: 'imgmodel-4' });
    expect(Object.keys(data!)).not.toContain('balance');
    const text = { model: 'vendora-chat', text: 'A lighthouse.' };
    expect(await quoteForAll(text)).toMatchObject({ status: 400 });
  });

  it('is refused for what nobody can get there', async () => {
    expect(await quoteForAll({ model: 'imgmodel-lite' })).toMatchObject({
      status: 404,
      error: { code: 'model_not_found' },
    });
    expect(await quoteForAll({ model: 'imgmodel-4', group: 'nowhere' })).toMatchObject({
      status: 400,
      error: { param: 'group' },
    });
    expect(await quoteForAll({ model: 'imgmodel-4', n: 1_000_000 })).toMatchObject({
      status: 400,
      error: { param: 'n' },
    });
  });

  it('answers the same for a model that is not for sale and one that does not exist', async () => {
    const { owner } = relay.fixture;
    await owner.query(
      `INSERT INTO models (id, family, unit, owned_by, enabled)
       SELECT id, 'image', 'call', 'vendora', id <> 'unreleased' FROM unnest($1::text[]) AS id`,
      [['unreleased', 'for-partners', 'unserved', 'unpriced']],
    );
    await owner.query(`INSERT INTO groups (name, open) VALUES ('Closed', false)`);
    await owner.query(
      `INSERT INTO group_models (model_id, group_name) VALUES ('unreleased', 'Vendora-Main'),
         ('for-partners', 'Closed'), ('unserved', 'Vendora-Main'), ('unpriced', 'Vendora-Main')`,
    );
    await owner.query(
      `INSERT INTO price_versions (model_id, unit_price)
       VALUES ('unreleased', 1), ('for-partners', 1), ('unserved', 1)`,
    );
    for (const model of ['unreleased', 'for-partners', 'unserved', 'unpriced', 'nothing']) {
      const { status, error } = await quoteForAll({ model, n: 1_000_000 });
      expect({ status, code: error?.code, message: error?.message }).toEqual({
        status: 404,
        code: 'model_not_found',
        message: `There is no model ${model} in group Vendora-Main.`,
      });
    }
  });

  it.each([
    [{ model: 'imgmodel-4', 'dimensions.mode': 'texture' }, 'dimensions.mode'],
    [{ model: 'vidmodel-3', 'dimensions.size': '1280x720' }, 'dimensions.size'],
    [{ model: 'vendora-chat', 'tokens.input': 1, 'dimensions.quality': 'high' }, 'dimensions.quality'],
    [{ model: 'imgmodel-4', seconds: 4 }, 'seconds'],
    [{ model: 'imgmodel-4', 'tokens.input': 4 }, 'tokens'],
    [{ model: 'imgmodel-4', 'dimensions.colour': 'red' }, 'dimensions.colour'],
    [{ model: 'imgmodel-4', n: 'all' }, 'n'],
  ])('of %o names what the model’s requests cannot contain, and is refused', async (asked, param) => {
    expect(await quoteForAll(asked as Asked)).toMatchObject({ status: 400, error: { param } });
  });

  it('can be cached for a minute, until a price changes', async () => {
    const asked = { model: 'imgmodel-4', n: 2 };
    const { response, data } = await quoteForAll(asked);
    expect(response.headers.get('cache-control')).toBe('public, max-age=60');
    const headers = { 'if-none-match': response.headers.get('etag')! };
    // Repeated requests are priced once. A new price changes the quote.
    for (const status of [304, 304]) expect((await fetch(response.url, { headers })).status).toBe(status);
    expect((await quoteForAll(asked)).data).toEqual(data);
    await relay.fixture.owner.query(
      `INSERT INTO price_versions (model_id, unit_price, effective_from) VALUES ('imgmodel-4', 0.04, now())`,
    );
    expect((await fetch(response.url, { headers })).status).toBe(200);
    expect((await quoteForAll(asked)).data).toMatchObject({ amount: '0.08' });
  });

  it('is cached only until an announced price takes effect', async () => {
    await relay.fixture.owner.query(
      `INSERT INTO price_versions (model_id, unit_price, effective_from)
       VALUES ('vendora-3d', 0.4, clock_timestamp() + interval '2 seconds')`,
    );
    await until('the announced price to come into force', async () => {
      const { response, data } = await quoteForAll({ model: 'vendora-3d' });
      if (data!.amount === '0.1')
        expect(response.headers.get('cache-control')).toMatch(/^public, max-age=[012]$/);
      return data!.amount === '0.4';
    });
  });

  it('is only for a group that is not open if the account has it', async () => {
    const { owner } = relay.fixture;
    await owner.query(`INSERT INTO groups (name, open) VALUES ('Partners', false)`);
    await owner.query(`INSERT INTO group_models (group_name, model_id) VALUES ('Partners', 'imgmodel-4')`);
    await owner.query(
      `INSERT INTO channel_groups (channel_id, group_name)
       SELECT channel_id, 'Partners' FROM channel_models WHERE model_id = 'imgmodel-4'`,
    );
    await owner.query(`INSERT INTO multiplier_versions (group_name, multiplier) VALUES ('Partners', 0.5)`);
    const partner = await person(relay);
    const wish = { model: 'imgmodel-4', group: 'Partners' };
    expect(await quoteForAll(wish)).toMatchObject({ status: 400, error: { param: 'group' } });
    expect(await quoteForAll(wish, partner.api)).toMatchObject({ status: 400, error: { param: 'group' } });
    await owner.query(
      `INSERT INTO account_groups (account_id, group_name, granted_by) VALUES ($1, 'Partners', 'test')`,
      [partner.accountId],
    );
    const { data, response } = await quoteForAll(wish, partner.api);
    expect(data).toMatchObject({ group: 'Partners', multiplier: '0.5' });
    // No cache in between may hand it to someone else.
    expect(response.headers.get('cache-control')).toBe('private, no-cache');
    expect(response.headers.get('vary')).toContain('Cookie');
    expect((await quoteForAll(wish)).status).toBe(400);
  });
});

describe('the track record of a model', () => {
  const recordOf = (model: string) =>
    visitor(relay).GET('/api/public/models/{model}/record', { params: { path: { model } } });

  it('is public, in percentages rather than counts, and names no channel', async () => {
    await relay.fixture.owner.query(
      `INSERT INTO model_days VALUES ((now() AT TIME ZONE 'UTC')::date - 1, 'imgmodel-4', 0.995, 250)`,
    );
    const { data, response } = await recordOf('imgmodel-4');
    expect(data).toMatchObject({ delivered: 0.995, latencyMs: 250 });
    expect(Object.keys(data!)).toEqual(['delivered', 'latencyMs', 'days']);
    expect(data!.days.map((day) => Object.keys(day).join())).toEqual(
      Array<string>(30).fill('day,delivered,latencyMs'),
    );
    expect(response.headers.get('cache-control')).toMatch(/^public, max-age=\d+$/);
    const again = await fetch(response.url, { headers: { 'if-none-match': response.headers.get('etag')! } });
    expect(again.status).toBe(304);
  });

  it('is in the service status with its type, which names nothing else', async () => {
    const statusNow = () => visitor(relay).GET('/api/public/status');
    // The gateway reports soon after it starts, and the status is cached for half a minute.
    const found = await until('the gateway to be known', async () => {
      const { data, response } = await statusNow();
      return data?.isAnswering ? { data, response } : undefined;
    });
    expect(Object.keys(found.data)).toEqual(['isAnswering', 'families']);
    expect(found.data.families.map(({ family }) => family)).toEqual([
      '3d',
      'chat',
      'image',
      'speech',
      'video',
    ]);
    const image = found.data.families.find(({ family }) => family === 'image')!;
    expect(Object.keys(image)).toEqual(['family', 'available', 'delivered', 'latencyMs', 'days']);
    expect(image).toMatchObject({ available: true, delivered: 0.995, latencyMs: 250 });
    expect(image.days.map((day) => Object.keys(day).join())).toEqual(
      Array<string>(30).fill('day,delivered,latencyMs'),
    );
    expect(found.response.headers.get('cache-control')).toMatch(/^public, max-age=\d+$/);
  });

  it('exists for models on the price list', async () => {
    const { error, response } = await recordOf('nothing-like-that');
    expect(response.status).toBe(404);
    expect(error?.error.code).toBe('not_found');
  });
});
