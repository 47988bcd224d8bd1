import { describe, expect, it } from '@jest/globals';
import type { FastifyRequest } from 'fastify';
import { contentHash } from './content-hash.js';

const hashOf = async (body: unknown, url = '/v1/images/generations') => {
  const request = { method: 'POST', url, body, isMultipart: () => false };
  return (await contentHash(request as unknown as FastifyRequest)).toString('hex');
};

describe('contentHash', () => {
  it.each([
    ['the order of members', { a: 1, b: { c: [1, 2], d: null } }, { b: { d: null, c: [1, 2] }, a: 1 }],
    ['nothing', {}, {}],
  ])('does not mind %s', async (_what, one, other) => {
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
  ])('minds %s', async (_what, one, other) => {
    expect(await hashOf(one)).not.toBe(await hashOf(other));
  });

  it('minds the path, but neither its query nor a slash at its end', async () => {
    expect(await hashOf({}, '/v1/videos')).not.toBe(await hashOf({}, '/v1/images/generations'));
    expect(await hashOf({}, '/v1/videos/?key=secret')).toBe(await hashOf({}, '/v1/videos'));
  });

  it('refuses what is nested too deeply', async () => {
    const deep: unknown = JSON.parse(`${'['.repeat(5_000)}${']'.repeat(5_000)}`);
    await expect(hashOf(deep)).rejects.toMatchObject({ code: 'invalid_json', status: 400 });
  });
});
