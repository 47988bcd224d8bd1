import Fastify from 'fastify';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { namesEtag, readByteRange, sendFile } from './file-answer.js';

describe('readRange', () => {
  it.each([
    ['bytes=0-0', { start: 0, end: 0 }],
    ['bytes=10-', { start: 10, end: 99 }],
    ['bytes=90-500', { start: 90, end: 99 }],
    ['bytes=-10', { start: 90, end: 99 }],
    ['bytes=-500', { start: 0, end: 99 }],
    ['bytes=100-', 'unsatisfiable'],
    ['bytes=-0', 'unsatisfiable'],
    ['bytes=5-2', null],
    ['bytes=-', null],
    ['bytes=0-1,4-5', null],
    ['items=0-1', null],
    [`bytes=${'9'.repeat(400)}-`, null],
    [undefined, null],
  ])('reads %s of 100 bytes', (header, range) => {
    expect(readByteRange(header, 100)).toEqual(range);
  });
});

describe('namesEtag', () => {
  it.each([
    ['"a"', true],
    ['W/"a"', true],
    ['"b", W/"a"', true],
    ['*', true],
    ['"b"', false],
    ['a', false],
    ['', false],
    [undefined, false],
  ])('%s: %s', (header, isNamed) => {
    expect(namesEtag(header, '"a"')).toBe(isNamed);
  });
});

it('a file is not kept open for a client that reads nothing', async () => {
  const piece = Buffer.alloc(1024 * 1024, 'x');
  /** More than the sockets take at once. */
  const bytes = 64 * piece.length;
  const body = Readable.from(Array.from({ length: 64 }, () => piece));
  const file = { key: 'k', bytes, type: 'video/mp4', etag: '"e"' };
  const server = Fastify();
  const store = { open: async () => body };
  server.get('/', (asked, reply) => sendFile(asked, reply, { store, file, stallMs: 500 }));
  await server.listen({ host: '127.0.0.1', port: 0 });
  const { port } = server.server.address() as { port: number };
  const closed = once(body, 'close');
  const call = request({ port, host: '127.0.0.1', path: '/', agent: false }).end();
  const [response] = (await once(call, 'response')) as [IncomingMessage];
  await closed;
  await expect(response.toArray()).rejects.toThrow('aborted');
  await server.close();
});
