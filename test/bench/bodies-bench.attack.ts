import { randomBytes } from 'node:crypto';
import { crc32, deflateSync } from 'node:zlib';
import { request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

/** Sends the worst bodies as fast as they are accepted, in a separate process. */
export interface AttackOrder {
  baseUrl: string;
  apiKey: string;
  attack: keyof typeof ATTACKS;
  seconds: number;
}

export interface AttackResult {
  megabytes: number;
  /** Answers by status; `0` means none. */
  answers: Record<string, number>;
}

const MEGABYTE = 1024 * 1024;
const EDITS = '/v1/images/edits';
const CHATS = '/v1/chat/completions';
const JSON_TYPE = 'application/json';
const BOUNDARY = 'bodies-bench';

interface Attack {
  path: string;
  type: string;
  /** How many are sent at the same time. */
  together: number;
  body: () => Buffer;
}

const ATTACKS = {
  'nested edit, 64 MB': {
    path: EDITS,
    type: JSON_TYPE,
    together: 4,
    body: () => json(`"model":"vendora-imagine-edit","prompt":"x","x":${'['.repeat(64 * MEGABYTE)}`),
  },
  'many elements, 20 MB': {
    path: CHATS,
    type: JSON_TYPE,
    together: 8,
    body: () => json(`"model":"vendora-chat","messages":[${'{},'.repeat(6 * MEGABYTE)}0]`),
  },
  'edits with base64 pictures, 128 MB': {
    path: EDITS,
    type: JSON_TYPE,
    together: 2,
    body: () => {
      const picture = bigPicture().toString('base64');
      return json(`"model":"vendora-imagine-edit","prompt":"x","images":["${picture}","${picture}"]`);
    },
  },
  '26 chats of 19 MB in one text': {
    path: CHATS,
    type: JSON_TYPE,
    together: 26,
    body: () =>
      json(`"model":"vendora-chat","messages":[{"role":"user","content":"${'A'.repeat(19 * MEGABYTE)}"}]`),
  },
  'chats just within the limits': {
    path: CHATS,
    type: JSON_TYPE,
    together: 26,
    body: () => {
      const message = `{"role":"user","content":"${'\\u0041é'.repeat(45)}"},`;
      return json(`"model":"vendora-chat","messages":[${message.repeat(19_000)}{}]`);
    },
  },
  'forms with pictures, 96 MB': {
    path: EDITS,
    type: `multipart/form-data; boundary=${BOUNDARY}`,
    together: 2,
    body: () => {
      const file = 'Content-Disposition: form-data; name="image[]"; filename="a.png"';
      const part = (head: string, content: Buffer) => [
        Buffer.from(`--${BOUNDARY}\r\n${head}\r\n\r\n`),
        content,
        Buffer.from('\r\n'),
      ];
      const field = (name: string, text: string) =>
        part(
          `Content-Disposition: form-data; name="${name}"\r\nContent-Type: application/json`,
          Buffer.from(text),
        );
      const pictures = [bigPicture(), bigPicture()].flatMap((picture) => part(file, picture));
      const fields = [...field('model', 'vendora-imagine-edit'), ...field('prompt', 'x')];
      return Buffer.concat([...fields, ...pictures, Buffer.from(`--${BOUNDARY}--\r\n`)]);
    },
  },
} satisfies Record<string, Attack>;

function json(members: string): Buffer {
  return Buffer.from(`{${members}}`);
}

/** A valid image that cannot be compressed: 48 MB. */
function bigPicture(): Buffer {
  const side = 4_000;
  const head = Buffer.alloc(13);
  head.writeUInt32BE(side, 0);
  head.writeUInt32BE(side, 4);
  head.set([8, 2, 0, 0, 0], 8);
  const rows = Buffer.alloc(side * (1 + side * 3));
  const noise = randomBytes(side * 3);
  for (let row = 0; row < side; row += 1) noise.copy(rows, row * (1 + side * 3) + 1);
  const chunks = [
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(rows, { level: 0 })),
    chunk('IEND', Buffer.alloc(0)),
  ];
  return Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), ...chunks]);
}

function chunk(type: string, content: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), content]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(content.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

async function attack(order: AttackOrder): Promise<AttackResult> {
  const { path, type, together, body } = ATTACKS[order.attack];
  const bytes = body();
  process.send?.('ready');
  const endMs = performance.now() + order.seconds * 1000;
  const result: AttackResult = { megabytes: Math.round(bytes.length / MEGABYTE), answers: {} };
  const attacker = async () => {
    while (performance.now() < endMs) {
      const status = await post(order, { path, type, bytes });
      result.answers[status] = (result.answers[status] ?? 0) + 1;
      await pause(1);
    }
  };
  await Promise.all(Array.from({ length: together }, attacker));
  return result;
}

function post(
  { baseUrl, apiKey }: AttackOrder,
  { path, type, bytes }: { path: string; type: string; bytes: Buffer },
): Promise<number> {
  return new Promise((resolve) => {
    const headers = {
      authorization: `Bearer ${apiKey}`,
      'content-type': type,
      'content-length': bytes.length,
    };
    const sent = request(baseUrl + path, { method: 'POST', headers, agent: false }, (response) => {
      resolve(response.statusCode ?? 0);
      response.resume().once('end', () => sent.destroy());
    });
    sent.once('error', () => resolve(0));
    sent.end(bytes);
  });
}

if (process.send) {
  process.on('message', (order: AttackOrder) => void attack(order).then((result) => process.send?.(result)));
  process.on('disconnect', () => process.exit());
}
