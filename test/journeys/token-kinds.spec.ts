import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Person, person } from '../support/console.js';
import { type Customer, expectCleanLedger, json, type Relay, startRelay } from '../support/relay.js';
import { silentWav, soundForm } from '../support/sounds.js';

/** One pixel. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
/** Prices per million tokens, like OpenAI's. */
const PRICES = {
  input: '5',
  cachedInput: '1.25',
  output: '10',
  imageInput: '8',
  cachedImageInput: '2',
  imageOutput: '32',
  audioInput: '6',
  cachedAudioInput: '0.5',
  audioOutput: '64',
};
const CACHED_PRICES = { ...PRICES, cacheWrite: '6.25', cacheWrite1h: '10' };
const MODELS = [
  ['by-tokens', 'image', '{"maxImages": 4}'],
  ['heard-by-tokens', 'speech', '{}'],
  ['spoken', 'chat', '{"maxInputTokens": 4000, "maxOutputTokens": 1000}'],
  ['cached', 'chat', '{"maxInputTokens": 4000, "maxOutputTokens": 1000}'],
] as const;

let relay: Relay;
let vendor: Server;
let owner: Person;
let customer: Customer;
/** The usage that the vendor reports next; undefined: none. */
let usage: object | undefined;
let asked = '';

beforeAll(async () => {
  vendor = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.once('end', () => {
      asked = Buffer.concat(pieces).toString('latin1');
      const count = Number(/"n":(\d+)/.exec(asked)?.[1] ?? 1);
      const data = Array.from({ length: count }, () => ({ b64_json: PNG }));
      const choices = [{ index: 0, message: { role: 'assistant', content: 'Ahoy' }, finish_reason: 'stop' }];
      response.writeHead(200, { 'content-type': 'application/json' });
      const message = { type: 'message', role: 'assistant', content: [{ type: 'text', text: 'Ahoy' }] };
      response.end(JSON.stringify({ ...message, data, choices, text: 'Ahoy', usage }));
    });
  });
  await new Promise<void>((resolve) => vendor.listen(0, '127.0.0.1', resolve));
  relay = await startRelay();
  const url = `http://127.0.0.1:${(vendor.address() as AddressInfo).port}`;
  const { owner: database } = relay.fixture;
  await database.query(
    `INSERT INTO channels (id, protocol, base_url, api_key) VALUES ('by-token', 'openai', $1, 'k')`,
    [url],
  );
  await database.query(
    `INSERT INTO channels (id, protocol, base_url, api_key) VALUES ('cached', 'anthropic', $1, 'k')`,
    [url],
  );
  await database.query(
    `INSERT INTO channel_groups VALUES ('by-token', 'Vendora-Main'), ('cached', 'Vendora-Main')`,
  );
  for (const [id, family, limits] of MODELS) {
    await database.query(
      `INSERT INTO models (id, family, unit, owned_by, limits) VALUES ($1, $2, 'token', 'vendora', $3)`,
      [id, family, limits],
    );
    await database.query(`INSERT INTO group_models (group_name, model_id) VALUES ('Vendora-Main', $1)`, [id]);
    const channel = id === 'cached' ? 'cached' : 'by-token';
    await database.query('INSERT INTO channel_models VALUES ($1, $2, $2)', [channel, id]);
  }
  const [admin, colleague] = [
    await person(relay, { roles: ['admin'] }),
    await person(relay, { roles: ['admin'] }),
  ];
  const changes = MODELS.map(([model]) => ({
    kind: 'price' as const,
    model,
    price: model === 'cached' ? CACHED_PRICES : PRICES,
  }));
  const { data } = await admin.api.POST('/api/admin/price-proposals', { body: { changes, note: 'by kind' } });
  const confirmed = await colleague.api.POST('/api/admin/price-proposals/{proposalId}/confirm', {
    params: { path: { proposalId: data!.id } },
    body: { revision: 1 },
  });
  expect(confirmed.data?.state).toBe('confirmed');
  customer = await relay.customer('100');
  owner = await person(relay, { accountId: customer.accountId });
});
afterAll(async () => {
  if (relay) await expectCleanLedger(relay);
  await relay?.close();
  vendor?.closeAllConnections();
  vendor?.close();
});

interface Charged {
  held: string;
  charged: string;
  delivered: { lines: { kind: string; units: string; amount: string }[] };
}

/** The units and total of a charge, after the server has recalculated it to the same total. */
async function chargeOf(response: Response): Promise<{ held: string; charged: string; lines: object }> {
  expect(response.status).toBe(200);
  const id = response.headers.get('x-request-id')!;
  await response.arrayBuffer();
  const { data } = await owner.api.GET('/api/charges/{chargeId}', { params: { path: { chargeId: id } } });
  expect(data).toMatchObject({ agrees: true });
  const { held, charged, delivered } = (await (await customer.send(`/v1/charges/${id}`)).json()) as Charged;
  const used = delivered.lines.filter(({ units }) => units !== '0');
  return {
    held,
    charged,
    lines: Object.fromEntries(used.map(({ kind, units }) => [kind, units])),
  };
}

const image = (body: object = {}) =>
  customer.send('/v1/images/generations', json({ model: 'by-tokens', prompt: 'a boat', ...body }));

describe('images priced by tokens', () => {
  it('cost what their vendor reports, by token type', async () => {
    usage = {
      input_tokens: 350,
      output_tokens: 4_200,
      input_tokens_details: {
        text_tokens: 50,
        image_tokens: 300,
        cached_tokens: 100,
        cached_tokens_details: { image_tokens: 90, text_tokens: 10 },
      },
      output_tokens_details: { image_tokens: 4_160, text_tokens: 40 },
    };
    const body = { image: { url: `data:image/png;base64,${PNG}` }, quality: 'high' };
    const response = await customer.send(
      '/v1/images/edits',
      json({ model: 'by-tokens', prompt: 'a boat', ...body }),
    );
    const answer = (await response.clone().json()) as { usage: object };
    const { held, charged, lines } = await chargeOf(response);
    expect(lines).toEqual({
      input: '40',
      cached_input: '10',
      output: '40',
      image_input: '210',
      cached_image_input: '90',
      image_output: '4160',
    });
    // (40x5 + 10x1.25 + 40x10 + 210x8 + 90x2 + 4160x32) / 1e6
    expect(charged).toBe('0.1355925');
    expect(Number(held)).toBeGreaterThan(0.1355925);
    expect(asked).toContain('high');
    expect(answer.usage).toEqual({
      input_tokens: 350,
      input_tokens_details: { text_tokens: 50, image_tokens: 300 },
      output_tokens: 4_200,
      total_tokens: 4_550,
      cost_in_usd_ticks: 1_355_925_000,
    });
  });

  it('are held at the most that the vendor can count, as a dry run says', async () => {
    usage = { input_tokens: 2, output_tokens: 272 };
    const dry = await image({ dry_run: true, n: 2 });
    const { models } = (await dry.json()) as { models: { amount: string }[] };
    const { held, charged, lines } = await chargeOf(await image({ n: 2 }));
    expect(held).toBe(models[0]!.amount);
    expect(Number(held)).toBeGreaterThanOrEqual((2 * 6_240 * 32) / 1e6);
    expect(lines).toEqual({ input: '2', image_output: '272' });
    expect(charged).toBe('0.008714');
  });

  it('cost a likely amount if the vendor reports nothing', async () => {
    usage = undefined;
    const { charged, lines } = await chargeOf(await image({ quality: 'low', n: 2 }));
    expect(lines).toMatchObject({ image_output: '544' });
    expect(Number(charged)).toBeLessThan(0.018);
    expect((await chargeOf(await image())).lines).toMatchObject({ image_output: '1056' });
  });

  it('never cost more than was held', async () => {
    usage = { input_tokens: 2, output_tokens: 1_000_000 };
    const { held, charged } = await chargeOf(await image());
    expect(charged).toBe(held);
  });
});

describe('audio priced by tokens', () => {
  const hear = async () => {
    const body = soundForm(silentWav(2), { model: 'heard-by-tokens', prompt: 'ahoy' });
    return chargeOf(await customer.send('/v1/audio/transcriptions', { method: 'POST', body }));
  };

  it('has its own price in a transcription', async () => {
    usage = {
      type: 'tokens',
      input_tokens: 26,
      output_tokens: 3,
      input_token_details: { text_tokens: 6, audio_tokens: 20 },
    };
    const { charged, lines } = await hear();
    expect(lines).toEqual({ input: '6', audio_input: '20', output: '3' });
    expect(charged).toBe('0.00018');
  });

  it('is counted by its length if the vendor reports nothing', async () => {
    usage = undefined;
    expect((await hear()).lines).toMatchObject({ audio_input: '20' });
  });

  it('has its own input and output prices in a chat, and is held at the highest', async () => {
    usage = {
      prompt_tokens: 100,
      completion_tokens: 50,
      prompt_tokens_details: { audio_tokens: 60, cached_tokens: 50 },
      completion_tokens_details: { audio_tokens: 45 },
    };
    const messages = [{ role: 'user', content: 'ahoy' }];
    const body = json({ model: 'spoken', messages });
    const { held, charged, lines } = await chargeOf(await customer.send('/v1/chat/completions', body));
    expect(lines).toEqual({
      cached_input: '40',
      output: '5',
      audio_input: '50',
      cached_audio_input: '10',
      audio_output: '45',
    });
    // (40x1.25 + 5x10 + 50x6 + 10x0.5 + 45x64) / 1e6
    expect(charged).toBe('0.003285');
    expect(Number(held)).toBeGreaterThan((1000 * 64) / 1e6);
  });
});

describe('a prompt that its vendor caches', () => {
  it('is written at the price for its lifetime, and read at another', async () => {
    usage = {
      input_tokens: 20,
      cache_read_input_tokens: 300,
      cache_creation_input_tokens: 70,
      cache_creation: { ephemeral_5m_input_tokens: 40, ephemeral_1h_input_tokens: 30 },
      output_tokens: 5,
    };
    const cached = (text: string, ttl: string) => ({
      type: 'text',
      text,
      cache_control: { type: 'ephemeral', ttl },
    });
    const content = [cached('for an hour '.repeat(200), '1h'), cached('for minutes', '5m')];
    const body = { model: 'cached', max_tokens: 50, messages: [{ role: 'user', content }] };
    const { held, charged, lines } = await chargeOf(await customer.send('/v1/messages', json(body)));
    expect(lines).toEqual({
      input: '20',
      cached_input: '300',
      cache_write: '40',
      cache_write_1h: '30',
      output: '5',
    });
    // (20x5 + 300x1.25 + 40x6.25 + 30x10 + 5x10) / 1e6
    expect(charged).toBe('0.001075');
    expect(Number(held)).toBeGreaterThan(0.001075);
  });
});
