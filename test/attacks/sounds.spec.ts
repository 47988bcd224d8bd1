import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addModel } from '../support/models.js';
import { closeClean, type Customer, json, type Relay, startRelay, until } from '../support/relay.js';
import { silentFlac, silentM4a, silentOgg } from '../support/sound-containers.js';
import { silentMp3, silentWav, soundForm, wavHead } from '../support/sounds.js';

const PATH = '/v1/audio/transcriptions';
const MODEL = 'vendora-transcribe';
const MB = 1024 * 1024;

describe('audio from a stranger', () => {
  let relay: Relay;
  let customer: Customer;

  beforeAll(async () => {
    // However slowly large files arrive on a busy machine.
    relay = await startRelay({ UPLOAD_GRACE_SECONDS: '600' });
    const channel = { channel: 'sandbox', protocol: 'openai-xai', baseUrl: relay.sandboxUrl };
    const model = { id: MODEL, like: 'vendora-speech', unit: 'second', ...channel };
    await addModel(relay.fixture.owner, model);
    customer = await relay.customer('1');
  });
  afterAll(() => closeClean(relay));

  const send = (form: FormData, path = PATH) => customer.send(path, { method: 'POST', body: form });
  const formWith = (fields: Record<string, string>, sound = silentWav(1)) =>
    soundForm(sound, { model: MODEL, ...fields });

  function twoFiles(): FormData {
    const form = formWith({});
    form.append('file', new Blob(['x']), 'b.wav');
    return form;
  }

  it.each<[string, () => FormData, [number, string, string | null]]>([
    ['a web page', () => formWith({}, Buffer.from('<!doctype html>')), [400, 'invalid_value', 'file']],
    ['an empty file', () => formWith({}, Buffer.alloc(0)), [400, 'invalid_value', 'file']],
    ['text instead of a file', () => textFile(), [400, 'missing_required_parameter', 'file']],
    ['two files', twoFiles, [413, 'request_too_large', null]],
    [
      'more than 25 MB',
      () => formWith({}, Buffer.concat([silentWav(1), Buffer.alloc(25 * MB)])),
      [413, 'request_too_large', null],
    ],
    [
      'two days of sound',
      () => formWith({}, Buffer.concat([wavHead({ rate: 1, bits: 8, bytes: 0 }), Buffer.alloc(200_000)])),
      [400, 'invalid_value', 'file'],
    ],
    [
      'a file whose length nobody can know',
      () => formWith({}, Buffer.concat([Buffer.from('OggS'), Buffer.alloc(75_000)])),
      [400, 'invalid_value', 'file'],
    ],
    [
      'something else behind a tag of MP3',
      () => formWith({}, Buffer.from('ID3\x04\0\0\0\0\0\0#!AMR\n\xff\xfb\x90\xc4', 'latin1')),
      [400, 'invalid_value', 'file'],
    ],
    ['days of sound in no bytes', () => formWith({}, silentFlac(11_000)), [400, 'invalid_value', 'file']],
    [
      'a format that nobody knows',
      () => formWith({ response_format: 'docx' }),
      [400, 'invalid_value', 'response_format'],
    ],
    ['an invalid flag', () => formWith({ stream: 'perhaps' }), [400, 'invalid_type', 'stream']],
    [
      'a stream of what is priced by the second',
      () => formWith({ stream: 'true' }),
      [400, 'invalid_value', 'stream'],
    ],
    [
      'a field that may cost more',
      () => formWith({ chunking_strategy: 'auto' }),
      [400, 'unknown_parameter', 'chunking_strategy'],
    ],
    [
      'a name on the prototype',
      () => formWith({ __proto__x: '1' }),
      [400, 'unknown_parameter', '__proto__x'],
    ],
    ['no model', () => formWith({ model: ' ' }), [400, 'missing_required_parameter', 'model']],
    ['a chat model', () => formWith({ model: 'vendora-chat' }), [400, 'model_not_supported_here', 'model']],
  ])('is refused before anything is held: %s', async (_what, form, [status, code, param]) => {
    const response = await send(form());
    const { error } = (await response.json()) as { error: { code: string; param: string | null } };
    expect({ status: response.status, code: error.code, param: error.param }).toEqual({
      status,
      code,
      param,
    });
    expect(await customer.balance()).toEqual({ main: '1', held: '0' });
  });

  it('must be a form, and nothing else', async () => {
    const response = await customer.send(PATH, json({ model: MODEL, file: 'aGk=' }));
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param: 'file' } });
    const spoken = { model: MODEL, input: 'x', voice: 'alloy' };
    const speech = await customer.send('/v1/audio/speech', json(spoken));
    expect(await speech.json()).toMatchObject({ error: { code: 'model_not_supported_here' } });
  });

  it.each<[string, Buffer]>([
    [
      'a header that says that there is nothing',
      Buffer.concat([wavHead({ rate: 8_000, bits: 16, bytes: 0 }), Buffer.alloc(160_000)]),
    ],
    [
      'a file of frames behind a tag that is cut',
      Buffer.concat([Buffer.from('ID3\x04\0\0\0\0\0\x09', 'latin1'), silentMp3(383)]),
    ],
    ['a first format that is not the one of its samples', twoFormats()],
    ['silence that takes no bytes', silentFlac(2)],
    ['packets of a byte each', silentOgg(160)],
    ['frames that its size says nothing about', silentM4a(78)],
  ])('gets nothing cheaper by false headers: %s', async (_what, sound) => {
    const other = await relay.customer('1');
    const body = formWith({ prompt: '[[seconds:10]]' }, sound);
    expect((await other.send(PATH, { method: 'POST', body })).status).toBe(200);
    expect(await other.balance()).toEqual({ main: '0.85', held: '0' });
  });

  it('is not sent if its account cannot pay the most that it can cost', async () => {
    const poor = await relay.customer('0.1');
    const sound = silentOgg(1_000);
    const response = await poor.send(PATH, { method: 'POST', body: formWith({}, sound) });
    expect(await response.json()).toMatchObject({ error: { code: 'insufficient_user_quota' } });
    expect(await poor.balance()).toEqual({ main: '0.1', held: '0' });
  });

  it('is passed on without the sender’s name for it', async () => {
    const before = relay.logged().length;
    expect((await send(formWith({ prompt: 'x' }))).status).toBe(200);
    expect(relay.logged().slice(before)).not.toContain('speech.exe');
  });

  it('does not pile up: several of the largest at once are answered or refused', async () => {
    const rich = await relay.customer('1000');
    const largest = Buffer.concat([
      wavHead({ rate: 96_000, bits: 16, bytes: 0 }),
      Buffer.alloc(25 * MB - 44),
    ]);
    const sendLargest = () => rich.send(PATH, { method: 'POST', body: formWith({}, largest) });
    const answers = await Promise.all(Array.from({ length: 4 }, sendLargest));
    const statuses = answers.map(({ status }) => status);
    // A busy machine may answer 503 while they are many.
    expect(statuses.filter((status) => ![200, 429, 503].includes(status))).toEqual([]);
    if (!statuses.includes(200))
      await until('one of them to be answered', async () => {
        const answer = await sendLargest();
        await answer.text();
        return answer.status === 200;
      });
    await Promise.all(answers.map((answer) => answer.text()));
    expect((await rich.balance()).held).toBe('0');
  });

  /** 10 seconds long in the first of its formats, and empty in the second. */
  function twoFormats(): Buffer {
    const file = wavHead({ rate: 8_000, bits: 16, bytes: 0 });
    const other = wavHead({ rate: 768_000, bits: 64, bytes: 0 }).subarray(12, 36);
    return Buffer.concat([file.subarray(0, 36), other, file.subarray(36), Buffer.alloc(160_000)]);
  }

  function textFile(): FormData {
    const form = new FormData();
    form.set('model', MODEL);
    form.set('file', 'RIFF');
    return form;
  }
});
