import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toFile } from 'openai';
import { GatedUpstream } from '../support/gated-upstream.js';
import { addModel } from '../support/models.js';
import { closeClean, type Customer, type Relay, startRelay, until } from '../support/relay.js';
import { silentM4a, silentOgg } from '../support/sound-containers.js';
import { silentMp3, silentWav, soundForm } from '../support/sounds.js';

/** 0.015 per second. */
const MODEL = 'vendora-transcribe';
/** 2.5 and 10 per million tokens of input and output. */
const BY_TOKENS = 'vendora-transcribe-tokens';
const PATH = '/v1/audio/transcriptions';

let relay: Relay;
let upstream: GatedUpstream;
let customer: Customer;

beforeAll(async () => {
  relay = await startRelay();
  upstream = await GatedUpstream.before(relay.sandboxUrl, relay.fixture);
  const { owner } = relay.fixture;
  const channel = { channel: 'sandbox', protocol: 'openai-xai', baseUrl: relay.sandboxUrl };
  await addModel(owner, { id: MODEL, like: 'vendora-speech', unit: 'second', ...channel });
  await addModel(owner, { id: BY_TOKENS, like: 'vendora-chat', ...channel });
  await addModel(owner, { id: 'strict', like: 'vendora-speech', unit: 'second', ...channel });
  await owner.query(`UPDATE models SET family = 'speech' WHERE id = $1`, [BY_TOKENS]);
  await owner.query(`UPDATE models SET limits = '{"maxSeconds": 5}' WHERE id = 'strict'`);
  customer = await relay.customer('100');
});
afterAll(async () => {
  await closeClean(relay);
  await upstream.close();
});

const hear = (sound: Buffer, fields: Record<string, string | string[]>, path = PATH) =>
  customer.send(path, { method: 'POST', body: soundForm(sound, { model: MODEL, ...fields }) });

interface Charge {
  state: string;
  held: string;
  settled: string;
  charged: string;
  delivered: { units: string };
}

async function chargeOf(response: Pick<Response, 'headers'>): Promise<Charge> {
  const id = response.headers.get('x-request-id') ?? '';
  return until('the end of the charge', async () => {
    const charge = (await (await customer.send(`/v1/charges/${id}`)).json()) as Charge;
    return charge.state !== 'held' && charge;
  });
}

describe('a transcription, by the OpenAI SDK', () => {
  it('is charged by the seconds that the vendor reports', async () => {
    const other = await relay.customer('1');
    const file = await toFile(silentWav(3.2), 'speech.wav');
    const { data, response } = await other
      .sdk()
      .audio.transcriptions.create({ model: MODEL, file, language: 'en', prompt: 'two words' })
      .withResponse();
    expect(data).toMatchObject({ text: 'two words', usage: { type: 'duration', seconds: 4 } });
    expect(await other.balance()).toEqual({ main: '0.94', held: '0' });
    const { rows } = await relay.fixture.billing.query(
      `SELECT state, family, settled::text AS settled FROM charges WHERE request_id = $1`,
      [response.headers.get('x-request-id')],
    );
    expect(rows).toEqual([{ state: 'settled', family: 'speech', settled: '60000000' }]);
  });

  it('comes in each requested format', async () => {
    const file = await toFile(silentWav(5), 'speech.wav');
    const { transcriptions, translations } = customer.sdk().audio;
    const ask = { model: MODEL, file };
    expect(await transcriptions.create({ ...ask, response_format: 'text' })).toBe('The light is on.\n');
    expect(await transcriptions.create({ ...ask, response_format: 'srt' })).toBe(
      '1\n00:00:00,000 --> 00:00:04,000\nThe light is on.\n\n2\n00:00:04,000 --> 00:00:05,000\nThe light is on.\n',
    );
    expect(await transcriptions.create({ ...ask, response_format: 'vtt' })).toMatch(
      /^WEBVTT\n\n00:00:00\.000/,
    );
    expect(
      await transcriptions.create({
        ...ask,
        response_format: 'verbose_json',
        timestamp_granularities: ['segment'],
      }),
    ).toMatchObject({ text: 'The light is on.', duration: 5, segments: [{ start: 0 }, { end: 5 }] });
    expect(await translations.create(ask)).toMatchObject({ text: 'The light is on.' });
  });

  it('is streamed if it is priced by tokens, and charged for them', async () => {
    const other = await relay.customer('1');
    const file = await toFile(silentWav(10), 'speech.wav');
    const ask = { model: BY_TOKENS, file, prompt: 'one two three' } as const;
    const whole = await other.sdk().audio.transcriptions.create(ask);
    expect(whole).toMatchObject({ text: 'one two three', usage: { input_tokens: 100, output_tokens: 3 } });
    // 100 input tokens at 0.0000025 and 3 output tokens at 0.00001.
    expect(await other.balance()).toEqual({ main: '0.99972', held: '0' });
    const events = await other.sdk().audio.transcriptions.create({ ...ask, stream: true });
    let text = '';
    for await (const event of events) if (event.type === 'transcript.text.delta') text += event.delta;
    expect(text).toBe('one two three');
    expect(await other.balance()).toEqual({ main: '0.99944', held: '0' });
  });
});

describe('the hold for audio', () => {
  it.each<[string, Buffer, Record<string, string>, Partial<Charge>]>([
    ['its length if that can be counted', silentMp3(383), {}, { held: '0.18', settled: '0.15' }],
    [
      'the most that its file can contain, and what was heard is charged',
      silentM4a(36, 75_000),
      {},
      { held: '1.53', settled: '0.075' },
    ],
    [
      'never exceeded by the charge',
      silentM4a(36),
      { prompt: '[[seconds:5000]]' },
      { held: '0.09', settled: '0.09' },
    ],
  ])('is %s', async (_what, sound, fields, expected) => {
    const response = await hear(sound, fields);
    expect(response.status).toBe(200);
    expect(await chargeOf(response)).toMatchObject({ state: 'settled', ...expected });
  });

  it('does not cover usage beyond it, which is logged and which the operator bears', async () => {
    const response = await hear(silentM4a(4), { prompt: '[[seconds:100]]' });
    const id = response.headers.get('x-request-id');
    const lines = relay
      .logged()
      .split('\n')
      .filter((line) => line.includes(`"requestId":"${id}"`));
    expect(
      lines.filter((line) => line.includes('more than was held') && line.includes('"excess":"1.47"')),
    ).toHaveLength(1);
  });

  it('is charged if a vendor reports nothing', async () => {
    const quiet = { prompt: '[[fault:no-usage]]' };
    expect(await chargeOf(await hear(silentWav(3.2), quiet))).toMatchObject({ settled: '0.06' });
    expect(await chargeOf(await hear(silentM4a(78), quiet))).toMatchObject({ settled: '0.15' });
    const tokens = await chargeOf(await hear(silentWav(10), { ...quiet, model: BY_TOKENS }));
    // 102 input tokens: ten per second, and those of the fields.
    expect(tokens).toMatchObject({ state: 'settled' });
    expect(Number(tokens.settled)).toBeCloseTo(0.0003, 3);
  });

  it("is no more than the model's limit", async () => {
    const response = await hear(silentM4a(36, 75_000), { model: 'strict' });
    expect(await chargeOf(response)).toMatchObject({ held: '0.075', settled: '0.075' });
    expect((await hear(silentWav(6), { model: 'strict' })).status).toBe(400);
  });

  it('covers only the prompt and the sound if it is priced by tokens', async () => {
    const fields = { model: BY_TOKENS, prompt: 'two words' };
    const { held } = await chargeOf(await hear(silentOgg(1_000), fields));
    // 62 seconds at 20 tokens, those of the fields, and 4,096 of output.
    const sound = 62 * 20 * 0.0000025 + 4_096 * 0.00001;
    expect(Number(held)).toBeGreaterThan(sound);
    expect(Number(held)).toBeLessThan(sound + 0.001);
  });

  it('is shown by a dry run, which holds and sends nothing', async () => {
    const dry = await hear(silentWav(10), { dry_run: 'true', 'models[]': ['strict', BY_TOKENS] });
    expect(await dry.json()).toMatchObject({
      object: 'dry_run',
      model: MODEL,
      models: [
        { model: MODEL, amount: '0.165' },
        { model: 'strict', available: false },
        { model: BY_TOKENS, available: true },
      ],
    });
  });
});

describe('a transcription that fails', () => {
  it.each([
    ['reject-503', 503],
    ['reject-400', 400],
    ['fail-late', 503],
    ['bad-file', 502],
    ['truncated', 502],
  ])('costs nothing: %s', async (fault, status) => {
    const response = await hear(silentWav(2), { prompt: `[[fault:${fault}]]` });
    expect(response.status).toBe(status);
    expect(await chargeOf(response)).toMatchObject({ state: 'released', charged: '0' });
  });

  it('is answered once for an Idempotency-Key and the same file, and rejected with another file', async () => {
    const ask = (sound: Buffer) => {
      const body = soundForm(sound, { model: MODEL, prompt: 'once' });
      return customer.send(PATH, { method: 'POST', body, headers: { 'idempotency-key': 'sound-1' } });
    };
    const before = await customer.balance();
    const first = await ask(silentWav(2));
    const again = await ask(silentWav(2));
    expect(again.headers.get('x-request-id')).toBe(first.headers.get('x-request-id'));
    expect(await again.json()).toEqual(await first.json());
    expect((await ask(silentWav(3))).status).toBe(400);
    expect(Number(before.main) - Number((await customer.balance()).main)).toBeCloseTo(0.03, 9);
  });

  it('is charged to a client that disconnected meanwhile', async () => {
    const other = await relay.customer('1');
    const leaving = new AbortController();
    upstream.shut(/slowly/);
    const body = soundForm(silentWav(2), { model: MODEL, prompt: 'slowly' });
    const answer = other.send(PATH, { method: 'POST', body, signal: leaving.signal }).catch(() => null);
    await until('the hold', async () => (await other.balance()).held !== '0');
    leaving.abort();
    expect(await answer).toBeNull();
    upstream.open();
    await until('the settlement', async () => (await other.balance()).main === '0.97');
  });
});
