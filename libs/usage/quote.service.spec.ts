import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PUBLIC_RELAY, VENDORA_MAIN } from '#groups/group.js';
import { listPrices, MarketReader } from '#marketplace/price-list.js';
import { formatAmount } from '#money/amount.js';
import { createLedgerFixture, type LedgerFixture } from '../../test/support/ledger.js';
import { QuoteService, type WantedQuote } from './quote.service.js';

let ledger: LedgerFixture;
let service: QuoteService;
/** With a key in the one group and a balance of 1. */
let accountId: string;
let keyId: string;

beforeAll(async () => {
  ledger = await createLedgerFixture();
  service = new QuoteService(ledger.billing, new MarketReader(ledger.billing));
  ({ accountId, keyId } = await ledger.account({ credits: '1' }));
});
afterAll(() => ledger.close());

function ask(wish: Partial<WantedQuote>) {
  return service.quote({ accountId, model: 'imgmodel-4', ...wish });
}

async function priceOf(wish: Partial<WantedQuote>): Promise<string> {
  const { quoted } = await ask(wish);
  return formatAmount(quoted.amount);
}

const invalid = (param: string) => ({ code: 'invalid_value', param });

describe('a quote', () => {
  it('is the price of the units, or of one if none are named', async () => {
    expect(await priceOf({})).toBe('0.03');
    expect(await priceOf({ n: 4 })).toBe('0.12');
    expect(await priceOf({ model: 'vendora-imagine-video', seconds: 3 })).toBe('0.15');
    // The model's own default is five seconds.
    expect(await priceOf({ model: 'vendora-imagine-video' })).toBe('0.25');
    expect(await priceOf({ model: 'vendora-imagine-video-1.5-preview', seconds: 1 })).toBe('0.05');
  });

  it('is that of the tokens, and for a text the most that it can cost', async () => {
    const tokens = { input: 1_000_000, cachedInput: 0, output: 100_000, cacheWrite: 0, cacheWrite1h: 0 };
    expect(await priceOf({ model: 'vendora-chat', tokens })).toBe('3.5');
    const { quoted, estimate } = await ask({
      model: 'vendora-chat',
      text: 'A lighthouse.',
      maxOutputTokens: 100,
    });
    expect(estimate!.output).toBe(100n);
    // At 2.5 and 10 per million, a token costs 2,500 and 10,000 nano-USD.
    expect(quoted.amount).toBe(estimate!.input.most * 2_500n + 100n * 10_000n);
    const longest = await ask({ model: 'vendora-chat', text: 'A lighthouse.' });
    expect(longest.estimate!.output).toBe(4_096n);
  });

  it('for images priced by tokens is what a gateway would hold for them', async () => {
    await ledger.owner.query(
      `INSERT INTO models (id, family, unit, owned_by, limits) VALUES ('drawn', 'image', 'token', 'vendora', '{"maxImages": 2}')`,
    );
    await ledger.owner.query(
      `INSERT INTO group_models (group_name, model_id) VALUES ('Vendora-Main', 'drawn')`,
    );
    await ledger.owner.query(
      `INSERT INTO price_versions (model_id, input_price, cached_input_price, output_price, media_prices)
       VALUES ('drawn', 0, 0, 10, '{"image_input": "8", "image_output": "32"}')`,
    );
    // 6,240 tokens for each output image, 7,500 for an input image.
    expect(await priceOf({ model: 'drawn', text: 'a boat', n: 2 })).toBe('0.39936');
    expect(await priceOf({ model: 'drawn', dimensions: { input: 'image' } })).toBe('0.25968');
    expect(await priceOf({ model: 'drawn', tokens: { imageOutput: 1_000_000 } })).toBe('32');
    await expect(ask({ model: 'drawn', n: 3 })).rejects.toMatchObject(invalid('n'));
    await expect(ask({ model: 'drawn', n: 1_000_000 })).rejects.toMatchObject(invalid('n'));
  });

  it.each([
    {
      model: 'spoken',
      media: '{"audio_input": "20", "audio_output": "64"}',
      write: null,
      input: 20_000n,
      output: 64_000n,
    },
    { model: 'cached', media: null, write: '12', input: 12_000n, output: 10_000n },
  ])(
    'for a text to the model $model is the most expensive that it can turn out to be',
    async ({ model, media, write, input, output }) => {
      await ledger.owner.query(
        `INSERT INTO models (id, family, unit, owned_by) VALUES ($1, 'chat', 'token', 'vendora')`,
        [model],
      );
      await ledger.owner.query(
        `INSERT INTO group_models (group_name, model_id) VALUES ('Vendora-Main', $1)`,
        [model],
      );
      await ledger.owner.query(
        `INSERT INTO price_versions (model_id, input_price, cached_input_price, output_price, media_prices, cache_write_price)
       VALUES ($1, 5, 1, 10, $2, $3)`,
        [model, media, write],
      );
      const { quoted, estimate } = await ask({ model, text: 'A lighthouse.', maxOutputTokens: 100 });
      expect(quoted.amount).toBe(estimate!.input.most * input + 100n * output);
    },
  );

  it('for a video is what a gateway would accept, by the limits that apply if the model has none', async () => {
    await ledger.owner.query(
      `INSERT INTO models (id, family, unit, owned_by) VALUES ('plain-video', 'video', 'second', 'vendora')`,
    );
    await ledger.owner.query(
      `INSERT INTO group_models (group_name, model_id) VALUES ('Vendora-Main', 'plain-video')`,
    );
    await ledger.owner.query(`INSERT INTO price_versions (model_id, unit_price) VALUES ('plain-video', 0.1)`);
    await ledger.owner.query(
      `INSERT INTO channel_models (channel_id, model_id, upstream_model)
       SELECT channel_id, 'plain-video', upstream_model FROM channel_models WHERE model_id = 'vendora-imagine-video'`,
    );
    const model = 'plain-video';
    // Five seconds by default.
    expect(await priceOf({ model })).toBe('0.5');
    expect(await priceOf({ model, seconds: 15 })).toBe('1.5');
    await expect(ask({ model, seconds: 16 })).rejects.toMatchObject(invalid('seconds'));
    await expect(ask({ model, seconds: 1_000_000 })).rejects.toMatchObject(invalid('seconds'));
    await expect(ask({ model, dimensions: { resolution: '4k' } })).rejects.toMatchObject(
      invalid('dimensions.resolution'),
    );
    await expect(ask({ model: 'vendora-3d', n: 2 })).rejects.toMatchObject(invalid('n'));
    const listed = listPrices(await new MarketReader(ledger.billing).readFor(null), { text: model });
    expect(listed.map(({ limits }) => limits)).toEqual([
      { defaultSeconds: 5, minSeconds: 1, maxSeconds: 15 },
    ]);
  });

  it('for a model that only edits is that of a call with as many images as it needs', async () => {
    await ledger.owner.query(
      `INSERT INTO models (id, family, unit, owned_by, limits) VALUES
         ('retouch', 'image', 'call', 'vendora', '{"minInputImages": 1}'),
         ('merge', 'image', 'token', 'vendora', '{"minInputImages": 2}')`,
    );
    await ledger.owner.query(
      `INSERT INTO group_models (group_name, model_id) VALUES ('Vendora-Main', 'retouch'), ('Vendora-Main', 'merge')`,
    );
    await ledger.owner.query(
      `INSERT INTO price_versions (model_id, unit_price, rates)
       VALUES ('retouch', 1, '[{"when": {"input": "image"}, "unitPrice": "3"}]')`,
    );
    await ledger.owner.query(
      `INSERT INTO price_versions (model_id, input_price, cached_input_price, output_price, media_prices)
       VALUES ('merge', 0, 0, 10, '{"image_input": "8", "image_output": "32"}')`,
    );
    expect(await priceOf({ model: 'retouch' })).toBe('3');
    expect(await priceOf({ model: 'retouch', dimensions: { input: 'image' } })).toBe('3');
    await expect(ask({ model: 'retouch', dimensions: { input: 'none' } })).rejects.toMatchObject({
      param: 'dimensions.input',
    });
    // 7,500 tokens for each of two input images, and 6,240 for the output.
    expect(await priceOf({ model: 'merge' })).toBe('0.31968');
  });

  it('is covered by the main balance of an account that is not frozen', async () => {
    expect(await ask({ n: 10 })).toMatchObject({ covered: true, balance: 1_000_000_000n });
    const much = { input: 1_000_000 };
    expect(await ask({ model: 'vendora-chat', tokens: much })).toMatchObject({ covered: false });
    const frozen = await ledger.account({ credits: '1' });
    await ledger.owner.query(
      `UPDATE customer_balances SET frozen = true, frozen_reason = 'x' WHERE account_id = $1`,
      [frozen.accountId],
    );
    expect(await ask({ accountId: frozen.accountId })).toMatchObject({ covered: false });
  });

  it('follows a price change at once', async () => {
    const [before] = [await priceOf({ model: 'vendora-3d' })];
    await ledger.owner.query(
      `INSERT INTO price_versions (model_id, unit_price, effective_from) VALUES ('vendora-3d', 0.4, now())`,
    );
    expect([before, await priceOf({ model: 'vendora-3d' })]).toEqual(['0.1', '0.4']);
  });

  it.each([
    [{ seconds: 3 }, 'seconds'],
    [{ model: 'vendora-imagine-video', n: 2 }, 'n'],
    [{ text: 'a lighthouse' }, 'text'],
    [{ tokens: { input: 1, cachedInput: 0, output: 0, cacheWrite: 0, cacheWrite1h: 0 } }, 'tokens'],
  ])('of %o names units of another type of model, and is refused', async (wish, param) => {
    await expect(ask(wish)).rejects.toMatchObject(invalid(param));
  });

  it.each([
    [{ dimensions: { mode: 'texture' } }, 'mode'],
    [{ model: 'vendora-imagine-video', dimensions: { size: '1280x720' } }, 'size'],
    [{ model: 'vendora-imagine-video', dimensions: { input: 'image' } }, 'input'],
    [{ model: 'vendora-3d', dimensions: { quality: 'high' } }, 'quality'],
    [{ model: 'vendora-chat', text: 'x', dimensions: { size: 'auto' } }, 'size'],
  ] as const)('of %o names what the family’s requests cannot contain, and is refused', async (wish, name) => {
    await expect(ask(wish)).rejects.toMatchObject(invalid(`dimensions.${name}`));
  });

  it('for a model priced by tokens needs tokens or a text, but not both', async () => {
    const model = 'vendora-chat';
    await expect(ask({ model })).rejects.toMatchObject({
      code: 'missing_required_parameter',
      param: 'tokens',
    });
    const tokens = { input: 1, cachedInput: 0, output: 1, cacheWrite: 0, cacheWrite1h: 0 };
    await expect(ask({ model, tokens, text: 'x' })).rejects.toMatchObject(invalid('text'));
  });
});

describe('the group of a quote', () => {
  it('is the keys’ only group, and has to be named if there are more', async () => {
    expect((await ask({})).group).toBe(VENDORA_MAIN);
    const { accountId: both } = await ledger.account({ credits: '0' });
    await ledger.key(both, PUBLIC_RELAY);
    await expect(ask({ accountId: both })).rejects.toMatchObject(invalid('group'));
    const wish = { accountId: both, model: 'imgmodel-lite', group: PUBLIC_RELAY };
    // The group has a fixed price per call.
    expect(await priceOf({ ...wish, n: 3 })).toBe('0.0006');
  });

  it('is the group of a working key', async () => {
    const { accountId: revoked, keyId: key } = await ledger.account({ credits: '0' });
    await ledger.revoke(key);
    await expect(ask({ accountId: revoked })).rejects.toMatchObject(invalid('group'));
    await expect(ask({ accountId: revoked, keyId: key })).rejects.toMatchObject({ code: 'not_found' });
    const { accountId: expired, keyId: old } = await ledger.account({ credits: '0' });
    await ledger.owner.query('UPDATE api_keys SET expires_at = now() WHERE id = $1', [old]);
    await expect(ask({ accountId: expired })).rejects.toMatchObject(invalid('group'));
    // Before the first key is created, people see what calls will cost.
    expect(await ask({ accountId: expired, group: VENDORA_MAIN })).toMatchObject({ group: VENDORA_MAIN });
    await expect(ask({ accountId: expired, group: 'nowhere' })).rejects.toMatchObject(invalid('group'));
    await expect(ask({ group: PUBLIC_RELAY })).rejects.toMatchObject(invalid('group'));
  });

  it('can be chosen by a key of the account, with what that may use', async () => {
    const stranger = await ledger.account({ credits: '0' });
    await expect(ask({ keyId: stranger.keyId })).rejects.toMatchObject({ code: 'not_found' });
    await expect(ask({ keyId, group: VENDORA_MAIN })).rejects.toMatchObject(invalid('group'));
    const limited = await ledger.key(accountId);
    await ledger.owner.query('UPDATE api_keys SET allowed_models = $2 WHERE id = $1', [
      limited,
      ['vendora-imagine-video-1.5'],
    ]);
    await expect(ask({ keyId: limited })).rejects.toMatchObject({ code: 'model_not_allowed' });
    const alias = { keyId: limited, model: 'vendora-imagine-video-1.5-preview' };
    expect(await priceOf({ ...alias, seconds: 2 })).toBe('0.1');
  });

  it.each(['none', 'imgmodel-lite'])('has no model %s, and says so', async (model) => {
    const unknown = { code: 'model_not_found', param: 'model' };
    await expect(ask({ model })).rejects.toMatchObject(unknown);
    await expect(ask({ model, n: 1_000_000 })).rejects.toMatchObject(unknown);
  });
});
