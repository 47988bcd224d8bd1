import { afterAll, beforeAll, expect, it } from 'vitest';
import { PUBLIC_RELAY, VENDORA_MAIN } from '#groups/group.js';
import { plainDecimal } from '#money/amount.js';
import { SecretBox } from '#platform/sealed-secret.js';
import type { Price } from '#pricing/price-book.js';
import { createLedgerFixture, type LedgerFixture } from '../../test/support/ledger.js';
import { loadCatalog, loadPriceBook } from './catalog.store.js';
import { loadOpenCatalog } from './channel-keys.js';

let ledger: LedgerFixture;

beforeAll(async () => {
  ledger = await createLedgerFixture();
});
afterAll(() => ledger.close());

const textOf = (price: Price | null | undefined) =>
  price?.kind === 'unit'
    ? plainDecimal(price.unitPrice)
    : price && [price.input, price.cachedInput, price.output].map(plainDecimal);

it('reads models with their limits, and prices an alias like its model', async () => {
  const { models, priceBook } = await loadCatalog(ledger.billing);
  expect(models.get('vendora-imagine-image')).toMatchObject({
    family: 'image',
    unit: 'call',
    aliasOf: null,
    enabled: true,
    limits: { maxImages: 10 },
    created: expect.any(Number),
  });
  expect(priceBook.models.get('vendora-imagine-video-1.5-preview')?.pricedAs).toBe(
    'vendora-imagine-video-1.5',
  );
  expect(priceBook.models.get('vendora-imagine-image')?.pricedAs).toBe('vendora-imagine-image');
});

it('reads versions in order of their start, including a withdrawal and microseconds', async () => {
  const { owner, billing } = ledger;
  const before = await loadPriceBook(billing);
  await owner.query(
    `INSERT INTO price_versions (model_id, unit_price, effective_from) VALUES
       ('imgmodel-4', NULL, now() + interval '2 days'), ('imgmodel-4', 0.0450, '2999-01-01T00:00:00.000001Z')`,
  );
  await owner.query(
    `INSERT INTO price_versions (model_id, unit_price, effective_from) VALUES ('imgmodel-4', 0.04, now() + interval '1 day')`,
  );
  const { prices, revision } = await loadPriceBook(billing);
  const versions = prices.get('imgmodel-4')!;
  expect(versions.map(({ value }) => textOf(value))).toEqual(['0.03', '0.04', null, '0.045']);
  expect(versions[0]!.effectiveFromMs).toBe(-Infinity);
  expect(versions[3]!.effectiveFromMs).toBeCloseTo(Date.parse('2999-01-01') + 0.001, 3);
  expect(revision).toBeGreaterThan(before.revision);
});

it('reads token prices per token, though they are stored per million', async () => {
  await ledger.owner.query(
    `INSERT INTO models (id, family, unit, owned_by) VALUES ('talker', 'chat', 'token', 'other')`,
  );
  await ledger.owner.query(
    `INSERT INTO price_versions (model_id, input_price, cached_input_price, output_price) VALUES ('talker', 2.5, 0.25, 10)`,
  );
  const { prices } = await loadPriceBook(ledger.billing);
  expect(textOf(prices.get('talker')![0]!.value)).toEqual(['0.0000025', '0.00000025', '0.00001']);
});

it('reads current upstream costs, as one figure per channel and model', async () => {
  const { owner, billing } = ledger;
  await owner.query(
    `INSERT INTO channels (id, protocol, base_url, api_key) VALUES ('costly', 'openai', 'https://v.example', 'k')`,
  );
  const cost = `INSERT INTO upstream_cost_versions (channel_id, model_id, unit_cost, input_cost, cached_input_cost, output_cost,
    media_costs, effective_from, actor, reason, request_id) VALUES ('costly', $1, $2, $3, $3, $4, $5, $6, 'a', 'r', $7)`;
  const of = (model: string, values: unknown[], from = '-infinity') =>
    owner.query(cost, [model, ...values, from, from + model]);
  await of('imgmodel-4', ['0.020', null, null, null]);
  await of('imgmodel-4', ['9', null, null, null], '2999-01-01');
  await of('vendora-chat', [null, '2.5', '10', null]);
  await of('vendora-messages', [null, '0.5', '3', { image_output: '30' }]);
  await of('vendora-imagine-image', [null, '0.5', '3', { image_output: '30' }]);
  await of('imgmodel-lite', ['1', null, null, null]);
  await of('imgmodel-lite', [null, null, null, null], '2020-01-01');
  const { channels } = await loadCatalog(billing);
  const costs = channels.find(({ id }) => id === 'costly')!.costs;
  expect(Object.fromEntries([...costs].map(([model, figure]) => [model, plainDecimal(figure)]))).toEqual({
    'imgmodel-4': '0.02',
    'vendora-chat': '12.5',
    'vendora-messages': '3.5',
    'vendora-imagine-image': '30.5',
  });
});

it('reads the multiplier and the fixed price of a group', async () => {
  const { multipliers, groupRules } = await loadPriceBook(ledger.billing);
  expect(plainDecimal(multipliers.get(VENDORA_MAIN)![0]!.value!)).toBe('1');
  const rule = groupRules.get(PUBLIC_RELAY)![0]!.value;
  expect(rule?.kind === 'fixed_per_call' && plainDecimal(rule.unitPrice)).toBe('0.0002');
});

it('leaves out of a group what it may not serve, however it was stored', async () => {
  await ledger.owner.query(
    `INSERT INTO group_models (group_name, model_id) VALUES ($1, 'vendora-imagine-video'), ($1, 'imgmodel-4')`,
    [PUBLIC_RELAY],
  );
  const { access } = await loadPriceBook(ledger.billing);
  expect(access.get(PUBLIC_RELAY)).toContain('imgmodel-4');
  expect(access.get(PUBLIC_RELAY)).not.toContain('vendora-imagine-video');
  expect(access.get(VENDORA_MAIN)).toContain('vendora-imagine-video');
});

it('reads channels with what they serve, and all their keys', async () => {
  await ledger.owner.query(`UPDATE channels SET further_api_keys = ARRAY['second'] WHERE id = 'sandbox'`);
  const sandbox = (await loadCatalog(ledger.billing)).channels.find(({ id }) => id === 'sandbox')!;
  expect(sandbox.apiKeys).toEqual(['sandbox-key', 'second']);
  expect(sandbox).toMatchObject({ baseUrl: 'http://127.0.0.1:9', enabled: true });
  expect(sandbox.models.get('imgmodel-4')).toBe('imgmodel-4');
  expect(sandbox.groups).toContain(VENDORA_MAIN);
});

it('has an earlier revision than a change made while it was read, so that it is read again', async () => {
  const enable = (enabled: boolean) =>
    ledger.owner.query(`UPDATE channels SET enabled = $1 WHERE id = 'sandbox'`, [enabled]);
  await enable(true);
  let asked = 0;
  const catalog = await loadCatalog({
    async query(text, values) {
      asked += 1;
      if (asked === 2) await enable(false);
      return ledger.billing.query(text, values);
    },
  });
  expect(asked).toBe(2);
  const isEnabled = catalog.channels.find(({ id }) => id === 'sandbox')!.enabled;
  const { revision } = await loadPriceBook(ledger.billing);
  expect({ isEnabled, isNewest: catalog.revision === revision }).not.toEqual({
    isEnabled: true,
    isNewest: true,
  });
  await enable(true);
});

it('keeps a channel whose webhook secret cannot be decrypted, but not one whose key cannot', async () => {
  const lost = 'sealed:1:00000000:AAAA';
  const { rows } = await ledger.owner.query<{ id: string }>('SELECT id FROM channels ORDER BY id LIMIT 2');
  const [first, second] = rows.map(({ id }) => id);
  await ledger.owner.query('UPDATE channels SET webhook_secret = $2 WHERE id = $1', [first, lost]);
  await ledger.owner.query('UPDATE channels SET api_key = $2 WHERE id = $1', [second, lost]);
  const logged: unknown[] = [];
  const log = { error: (fields: object) => logged.push(fields) };
  const { channels } = await loadOpenCatalog(ledger.billing, { secrets: new SecretBox([]), log });
  expect(channels.find(({ id }) => id === first)).toMatchObject({ webhookSecret: null });
  expect(channels.map(({ id }) => id)).not.toContain(second);
  expect(logged).toEqual([{ channel: first }, { channel: second, reason: expect.any(String) }]);
});
