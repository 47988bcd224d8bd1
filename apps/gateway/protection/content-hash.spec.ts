import { describe, expect, it } from 'vitest';
import type { FastifyRequest } from 'fastify';
import { LongText } from '#platform/http/long-text.js';
import { contentHash } from './content-hash.js';

const hashOf = async (body: unknown, url = '/v1/images/generations') => {
  const request = { method: 'POST', url, body, isMultipart: () => false };
  return (await contentHash(request as unknown as FastifyRequest)).toString('hex');
};

describe('contentHash', () => {
  it.each([
    ['the order of members', { a: 1, b: { c: [1, 2], d: null } }, { b: { d: null, c: [1, 2] }, a: 1 }],
    ['nothing', {}, {}],
  ])('ignores %s', async (_what, one, other) => {
    expect(await hashOf(one)).toBe(await hashOf(other));
  });

  it.each([
    ['types', { n: 1 }, { n: '1' }],
    ['null and absence', { n: null }, {}],
    ['null and its name', { n: null }, { n: 'null' }],
    ['the order of a list', [1, 2], [2, 1]],
    ['where text begins', ['ab', 'c'], ['a', 'bc']],
    ['where a list ends', [[1], 2], [[1, 2]]],
    ['an object and a list', { 0: 'a' }, ['a']],
    ['text that looks like what is hashed', ['a', 'b'], ['atext 1\nb']],
    ['large numbers', 1e21, '1e21'],
  ])('depends on %s', async (_what, one, other) => {
    expect(await hashOf(one)).not.toBe(await hashOf(other));
  });

  it('depends on the path, but not on its query or a trailing slash', async () => {
    expect(await hashOf({}, '/v1/videos')).not.toBe(await hashOf({}, '/v1/images/generations'));
    expect(await hashOf({}, '/v1/videos/?key=secret')).toBe(await hashOf({}, '/v1/videos'));
  });

  it('is the one that gateways of other versions compute', async () => {
    const text = LongText.of([Buffer.from('abc'), Buffer.from('def')]);
    const body = { b: [1, 'é', null, { z: true, a: [] }], a: text, 10: 0.5, 9: 1e21 };
    expect(await hashOf(body)).toBe('e2e08428476ca27b877d8474d86ae5aac93a8fccb76a94daa1e8d3a53213299f');
  });

  it.each([
    ['of many values', { x: Array.from({ length: 50_000 }, () => 1) }],
    ['of many members', Object.fromEntries(Array.from({ length: 25_000 }, (_, index) => [`m${index}`, 1]))],
    ['of many texts', Array.from({ length: 480 }, () => 'x'.repeat(16_000))],
  ])('of a body %s leaves turns to others', async (_what, body) => {
    let turns = 0;
    let next = setImmediate(function others() {
      turns += 1;
      next = setImmediate(others);
    });
    await hashOf(body);
    clearImmediate(next);
    expect(turns).toBeGreaterThan(5);
  });

  it('depends on long texts and their place', async () => {
    const long = (text: string) => LongText.of([Buffer.from(text.slice(0, 3)), Buffer.from(text.slice(3))]);
    expect(await hashOf({ a: long('abcdef'), b: 1 })).toBe(await hashOf({ b: 1, a: long('abcdef') }));
    expect(await hashOf({ a: long('abcdef') })).not.toBe(await hashOf({ a: long('abcdeg') }));
    expect(await hashOf([long('abcdef'), long('xyz')])).not.toBe(await hashOf([long('abcde'), long('fxyz')]));
    expect(await hashOf([long('abcdef'), 1])).not.toBe(await hashOf([1, long('abcdef')]));
  });
});
