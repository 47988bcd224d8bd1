import { createCanvas } from '@napi-rs/canvas';
import { crc32, deflateSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeClean, type Customer, json, type Relay, startRelay } from '../support/relay.js';

const EDITS = '/v1/images/edits';
const ASSETS = '/v1/3d';
const CONTENTS = '/v1beta/models/chatmodel-2:generateContent';
const EDIT = { model: 'vendora-imagine-edit', prompt: 'at night' };

describe('an image', () => {
  let relay: Relay;
  let customer: Customer;

  beforeAll(async () => {
    relay = await startRelay({ CHANNEL_FAILURES_TO_OPEN: '1' });
    customer = await relay.customer('1');
  });
  afterAll(() => closeClean(relay));

  const whole = drawn();
  const cut = (bytes: Buffer) => bytes.subarray(0, Math.floor(bytes.length * 0.6));

  it.each<[string, Buffer]>([
    ['a PNG', whole.png],
    ['a JPEG', whole.jpeg],
    ['a WebP', whole.webp],
    ['one with trailing bytes', Buffer.concat([whole.png, Buffer.alloc(5_000)])],
  ])('that is complete is accepted: %s', async (_what, bytes) => {
    const response = await customer.send(EDITS, json({ ...EDIT, image: bytes.toString('base64') }));
    expect(response.status).toBe(200);
  });

  it.each<[string, Buffer]>([
    ['a PNG that is cut off', cut(whole.png)],
    ['a JPEG that is cut off', cut(whole.jpeg)],
    ['a WebP that is cut off', cut(whole.webp)],
    ['a PNG with other bytes inside', damaged(whole.png)],
    ['only the header of a JPEG', Buffer.from('ffd8ffe000104a46494600010100000100010000', 'hex')],
    ['a PNG of 3.6 billion pixels', bomb(60_000)],
    ['a JPEG that scans all its pixels many times', manyScans(whole.jpeg)],
    ['a GIF', Buffer.from('GIF89a..........')],
  ])(
    'that is not one is its sender’s error, names its field, and holds no credits: %s',
    async (_what, bytes) => {
      const before = await customer.balance();
      const image = bytes.toString('base64');
      const requests: [string, RequestInit, string][] = [
        [EDITS, json({ ...EDIT, image }), 'image'],
        [EDITS, json({ ...EDIT, image: whole.png.toString('base64'), mask: image }), 'mask'],
        [EDITS, form(bytes), 'image'],
        [ASSETS, json({ model: 'vendora-3d', image: `data:image/png;base64,${image}` }), 'image'],
      ];
      for (const [path, init, param] of requests) {
        const response = await customer.send(path, init);
        const answer = (await response.json()) as { error: { code: string; param: string } };
        expect({ path, status: response.status, ...answer }).toMatchObject({
          status: 400,
          error: { code: 'invalid_image', param },
        });
      }
      const { rows } = await relay.fixture.billing.query(
        `SELECT 1 FROM charges WHERE account_id = $1 AND state NOT IN ('settled', 'refused')`,
        [customer.accountId],
      );
      expect(rows).toEqual([]);
      expect(await customer.balance()).toEqual(before);
      // No upstream was asked, so none counts as broken.
      expect(
        (await customer.send(EDITS, json({ ...EDIT, image: whole.png.toString('base64') }))).status,
      ).toBe(200);
    },
  );

  /** Each format in which clients send images with text. */
  const conversations: [string, string, (bytes: Buffer, mime: string) => object, string][] = [
    [
      'a chat',
      '/v1/chat/completions',
      (bytes, mime) => ({
        model: 'vendora-chat',
        messages: [
          { role: 'user', content: [words, { type: 'image_url', image_url: { url: inline(bytes, mime) } }] },
        ],
      }),
      'messages',
    ],
    [
      'a response',
      '/v1/responses',
      (bytes, mime) => ({
        model: 'vendora-chat',
        input: [
          { role: 'user', content: [inputWords, { type: 'input_image', image_url: inline(bytes, mime) }] },
        ],
      }),
      'input',
    ],
    [
      'the output of a tool',
      '/v1/responses',
      (bytes, mime) => ({
        model: 'vendora-chat',
        input: [
          {
            type: 'function_call_output',
            call_id: 'c',
            output: [{ type: 'input_image', image_url: inline(bytes, mime) }],
          },
          { role: 'user', content: [inputWords] },
        ],
      }),
      'input',
    ],
    [
      'a message',
      '/v1/messages',
      (bytes, mime) => ({
        model: 'vendora-messages',
        max_tokens: 9,
        messages: [{ role: 'user', content: [words, base64Block(bytes, mime)] }],
      }),
      'messages',
    ],
    [
      'contents',
      CONTENTS,
      (bytes, mime) => ({ contents: [{ parts: [plainWords, inlineData(bytes, mime)] }] }),
      'contents',
    ],
    [
      'contents in snake case, with one entry in place of a list',
      CONTENTS,
      (bytes, mime) => ({
        contents: [
          { role: 'user', parts: plainWords },
          {
            role: 'user',
            parts: { inline_data: { mime_type: mime.toUpperCase(), data: bytes.toString('base64') } },
          },
          { role: 'user', parts: plainWords },
        ],
      }),
      'contents',
    ],
    [
      'the result of a function in contents',
      CONTENTS,
      (bytes, mime) => ({
        contents: {
          parts: [
            { function_response: { name: 'f', response: {}, parts: [inlineData(bytes, mime)] } },
            plainWords,
          ],
        },
      }),
      'contents',
    ],
    [
      'the result of a tool in a message',
      '/v1/messages',
      (bytes, mime) => ({
        model: 'vendora-messages',
        max_tokens: 9,
        messages: [
          {
            role: 'user',
            content: [{ type: 'tool_result', tool_use_id: 't', content: [base64Block(bytes, mime)] }, words],
          },
        ],
      }),
      'messages',
    ],
  ];

  it.each(conversations)(
    'is decoded before credits are held in %s, whatever its size',
    async (_what, path, ask, param) => {
      const good: [Buffer, string][] = [
        [whole.png, 'image/png'],
        [whole.jpeg, 'image/jpeg'],
        // Longer than a text that is kept whole.
        [Buffer.concat([whole.png, Buffer.alloc(3_000_000)]), 'image/png'],
        [Buffer.from('GIF89a..........'), 'image/gif'],
      ];
      for (const [bytes, mime] of good) {
        const response = await customer.send(path, json(ask(bytes, mime)));
        const problem = response.ok ? null : await response.text();
        expect({ mime, problem }).toEqual({ mime, problem: null });
      }
      const charges = await chargesOf(customer);
      for (const bytes of [cut(whole.png), bomb(60_000), manyScans(whole.jpeg), Buffer.from('no picture')]) {
        const response = await customer.send(path, json(ask(bytes, 'image/png')));
        expect(response.status).toBe(400);
        const text = await response.text();
        expect(text).toContain('invalid_image');
        expect(text).toContain(param);
      }
      expect(await chargesOf(customer)).toBe(charges);
    },
  );

  async function chargesOf({ accountId }: Customer): Promise<number> {
    const { rows } = await relay.fixture.billing.query<{ count: number }>(
      'SELECT count(*)::integer AS count FROM charges WHERE account_id = $1',
      [accountId],
    );
    return rows[0]?.count ?? 0;
  }

  function form(bytes: Buffer): RequestInit {
    const body = new FormData();
    for (const [name, value] of Object.entries(EDIT)) body.set(name, value);
    body.set('image', new Blob([new Uint8Array(bytes)]), 'a.png');
    return { method: 'POST', body };
  }
});

const words = { type: 'text', text: 'what is this?' };
const plainWords = { text: words.text };
const inputWords = { ...words, type: 'input_text' };

function inline(bytes: Buffer, mime: string): string {
  return `data:${mime};base64,${bytes.toString('base64')}`;
}

function inlineData(bytes: Buffer, mimeType: string): object {
  return { inlineData: { mimeType, data: bytes.toString('base64') } };
}

function base64Block(bytes: Buffer, mime: string): object {
  return { type: 'image', source: { type: 'base64', media_type: mime, data: bytes.toString('base64') } };
}

function drawn(): Record<'png' | 'jpeg' | 'webp', Buffer> {
  const canvas = createCanvas(300, 200);
  const context = canvas.getContext('2d');
  for (let step = 0; step < 600; step += 1) {
    context.fillStyle = `hsl(${(step * 47) % 360}, 80%, 50%)`;
    context.fillRect((step * 83) % 300, (step * 29) % 200, 20, 20);
  }
  return {
    png: canvas.toBuffer('image/png'),
    jpeg: canvas.toBuffer('image/jpeg'),
    webp: canvas.toBuffer('image/webp'),
  };
}

function damaged(png: Buffer): Buffer {
  return Buffer.from(png).fill(0x55, png.length >> 1, (png.length >> 1) + 100);
}

/** A small file that says it is huge, and is once decompressed. */
function bomb(side: number): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(side, 0);
  head.writeUInt32BE(side, 4);
  head.set([8, 0, 0, 0, 0], 8);
  const rows = deflateSync(Buffer.alloc(5_000_000));
  const signature = Buffer.from('89504e470d0a1a0a', 'hex');
  return Buffer.concat([signature, chunk('IHDR', head), chunk('IDAT', rows), chunk('IEND', Buffer.alloc(0))]);
}

function chunk(type: string, content: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), content]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

/** A JPEG that repeats its scan many times. */
function manyScans(jpeg: Buffer): Buffer {
  const start = jpeg.indexOf(Buffer.from('ffda', 'hex'));
  const scan = jpeg.subarray(start, jpeg.length - 2);
  const times = Math.ceil((11 * 50_000_000) / (300 * 200));
  const small = scan.subarray(0, 40);
  return Buffer.concat([jpeg.subarray(0, start), ...Array<Buffer>(times).fill(small), jpeg.subarray(-2)]);
}
