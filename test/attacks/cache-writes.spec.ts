import { afterAll, beforeAll, expect, it } from 'vitest';
import Anthropic from '@anthropic-ai/sdk';
import { formatAmount, nanos } from '#money/amount.js';
import { closeClean, type Customer, type Relay, startRelay, until } from '../support/relay.js';
import { type Script, type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.js';

const MODEL = 'vendora-messages';
/** Nano-USD per token of `MODEL`. The price of writes follows from that of input. */
const PRICE = { input: 3_000n, cached: 300n, output: 15_000n, write: 3_750n, write1h: 6_000n };
const USAGE = {
  input_tokens: 10,
  cache_read_input_tokens: 100,
  cache_creation_input_tokens: 1_000,
  cache_creation: { ephemeral_5m_input_tokens: 400, ephemeral_1h_input_tokens: 600 },
  output_tokens: 5,
};
const COST =
  10n * PRICE.input + 100n * PRICE.cached + 5n * PRICE.output + 400n * PRICE.write + 600n * PRICE.write1h;

const scripts: Record<string, Script> = {
  writes: (response, { model }) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const content = [{ type: 'text', text: 'x' }];
    response.end(
      JSON.stringify({ id: 'm', type: 'message', role: 'assistant', model, content, usage: USAGE }),
    );
  },
};

let relay: Relay;
let upstream: ScriptedUpstream;

beforeAll(async () => {
  upstream = await startScriptedUpstream(scripts);
  relay = await startRelay();
  const { owner } = relay.fixture;
  await owner.query(
    `INSERT INTO channels (id, protocol, base_url, api_key, priority) VALUES ('scripted', 'anthropic', $1, 'k', 9)`,
    [upstream.url],
  );
  await owner.query(`INSERT INTO channel_models VALUES ('scripted', $1, $1)`, [MODEL]);
  await owner.query(`INSERT INTO channel_groups VALUES ('scripted', 'Vendora-Main')`);
});

afterAll(async () => {
  await closeClean(relay);
  upstream.close();
});

function ask(customer: Customer, ttl?: '5m' | '1h'): Promise<unknown> {
  const sdk = new Anthropic({ apiKey: customer.apiKey, baseURL: relay.baseUrl, maxRetries: 0 });
  const system = 'a long text that is asked about again and again '.repeat(40);
  return sdk.messages.create({
    model: MODEL,
    max_tokens: 10,
    system: [{ type: 'text', text: system, ...(ttl && { cache_control: { type: 'ephemeral', ttl } }) }],
    messages: [{ role: 'user', content: 'writes' }],
  });
}

interface Row {
  amount: bigint;
  settled: bigint | null;
  held: { kind: string; units: string }[];
  used: { kind: string; units: string; unitPrice: string }[];
}

async function chargeOf(customer: Customer): Promise<Row> {
  const read = async () => {
    const { rows } = await relay.fixture.billing.query<Row>(
      'SELECT amount, settled, lines AS held, delivered_lines AS used FROM charges WHERE account_id = $1',
      [customer.accountId],
    );
    return rows[0] as Row;
  };
  await until('the settlement', async () => (await read()).settled !== null);
  return read();
}

it('charges cache writes and cache reads on separate lines', async () => {
  const customer = await relay.customer('1');
  await ask(customer, '1h');
  const { settled, used } = await chargeOf(customer);
  expect(settled).toBe(COST);
  const units = Object.fromEntries(used.map(({ kind, units }) => [kind, Number(units)]));
  expect(units).toEqual({ input: 10, cached_input: 100, output: 5, cache_write: 400, cache_write_1h: 600 });
  expect((await customer.balance()).main).toBe(formatAmount(nanos(1_000_000_000n - COST)));
});

it('holds the highest possible price of a request', async () => {
  const held = async (ttl?: '5m' | '1h') => {
    const customer = await relay.customer('1');
    await ask(customer, ttl);
    const { held } = await chargeOf(customer);
    return held.filter(({ units }) => BigInt(units) > 0n).map(({ kind }) => kind);
  };
  expect(await held()).toEqual(['input', 'output']);
  expect(await held('5m')).toEqual(['output', 'cache_write']);
  expect(await held('1h')).toEqual(['output', 'cache_write_1h']);
});

it('prices writes as the price version says', async () => {
  const { owner } = relay.fixture;
  await owner.query(
    `INSERT INTO price_versions (model_id, input_price, cached_input_price, output_price, cache_write_price,
       cache_write_1h_price, effective_from) VALUES ($1, 3, 0.3, 15, 4, 7, now())`,
    [MODEL],
  );
  const customer = await relay.customer('1');
  await ask(customer, '1h');
  const { settled } = await chargeOf(customer);
  expect(settled).toBe(COST + 400n * 250n + 600n * 1_000n);
});
