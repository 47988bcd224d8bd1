import Fastify, { type FastifyInstance } from 'fastify';
import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { MAX_JSON_DEPTH, MAX_JSON_ELEMENTS } from './json-body.js';
import { readJsonInTurns } from './json-parser.js';
import { Upload } from './uploads.js';

const MEGABYTE = 1024 * 1024;
const LARGE = JSON.stringify(Array.from({ length: 30_000 }, (_, index) => ({ [index]: index })));

let server: FastifyInstance;
let answered: string[];
/** Bytes of all bodies. */
let received: number;

beforeEach(() => {
  [answered, received] = [[], 0];
  server = Fastify();
  server.decorateRequest('upload', null);
  server.addHook('onRequest', (request, _reply, done) => {
    request.upload = new Upload(request.raw, ['session', String(request.headers['x-sender'])]);
    done();
  });
  readJsonInTurns(server, {
    onBytes: (_request, { length }) => void (received += length),
    limitsOf: () => ({
      depth: MAX_JSON_DEPTH,
      elements: MAX_JSON_ELEMENTS,
      bytes: MEGABYTE,
      plainBytes: MEGABYTE,
    }),
  });
  server.post('/', async ({ headers, bodyFault }) => bodyFault ?? answered.push(String(headers['x-sender'])));
});
afterEach(() => server.close());

/** Sends all but the end. */
function begin(sender: string) {
  const payload = new PassThrough();
  payload.write(LARGE.slice(0, -1));
  const request = server.inject({
    method: 'POST',
    url: '/',
    headers: {
      'content-type': 'application/json',
      'transfer-encoding': 'chunked',
      'x-sender': sender,
    },
    payload,
  });
  // Only then is it sent.
  return { payload, answer: request.then(({ statusCode }) => statusCode) };
}

it('large bodies of one sender leave turns to those of another', async () => {
  const begun = [...Array.from({ length: 8 }, () => 'one'), 'other'].map(begin);
  while (received < begun.length * (LARGE.length - 1)) await turn();
  for (const { payload } of begun) {
    const before = received;
    payload.end(LARGE.slice(-1));
    while (received === before) await turn();
  }
  for (const { answer } of begun) expect(await answer).toBe(200);
  expect(answered.length).toBe(9);
  expect(answered.indexOf('other')).toBeLessThan(4);
});
