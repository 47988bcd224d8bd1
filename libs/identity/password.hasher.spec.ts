import { describe, expect, it, vi } from 'vitest';
import argon2 from 'argon2';
import { PasswordHasher } from './password.hasher.js';

const hasher = new PasswordHasher();
const someone = { ip: '192.0.2.1' };

describe('PasswordHasher', () => {
  it('hashes with argon2id as OWASP recommends, differently each time', async () => {
    const [first, second] = [
      await hasher.hash('correct horse', someone),
      await hasher.hash('correct horse', someone),
    ];
    expect(first).toMatch(/^\$argon2id\$v=19\$m=19456,(t=2,p=1|p=1,t=2)\$/);
    expect(first).not.toBe(second);
    expect(hasher.isOutdated(first)).toBe(false);
  });

  it('recognises the password, however a keyboard encodes its letters, and no other', async () => {
    const hash = await hasher.hash('cafe\u0301 noir', someone);
    expect(await hasher.verify(hash, 'caf\u00e9 noir', someone)).toBe(true);
    expect(await hasher.verify(hash, 'cafe noir', someone)).toBe(false);
  });

  it.each([null, 'none', ''])('has no password for %j', async (hash) => {
    for (const password of ['none', '', 'the password of nobody'])
      expect(await hasher.verify(hash, password, someone)).toBe(false);
  });

  it('recognises a hash with weaker parameters, and that it is outdated', async () => {
    const weak = await argon2.hash('correct horse', { memoryCost: 8_192, timeCost: 1, parallelism: 1 });
    expect(await hasher.verify(weak, 'correct horse', someone)).toBe(true);
    expect(hasher.isOutdated(weak)).toBe(true);
  });

  it('compares as costly a hash for unknown people as for known ones', async () => {
    const compared = vi.spyOn(argon2, 'verify');
    const known = await hasher.hash('correct horse', someone);
    for (const hash of [known, null, 'none']) await hasher.verify(hash, 'wrong', someone);
    const costs = compared.mock.calls.map(([hash]) => hash.split('$').slice(0, 4));
    expect(costs).toEqual(Array.from({ length: 3 }, () => known.split('$').slice(0, 4)));
    compared.mockRestore();
  });

  it('refuses requests that it could not serve soon', async () => {
    const crowd = Array.from({ length: 100 }, async () => hasher.verify(null, 'wrong', someone));
    const results = await Promise.allSettled(crowd);
    const refused = results.filter(({ status }) => status === 'rejected');
    expect(refused.length).toBeGreaterThan(20);
    expect(refused[0]).toMatchObject({ reason: { code: 'service_unavailable' } });
  });

  it.each([
    ['another person', { userId: 'a' }, { userId: 'b' }],
    ['another network', someone, { ip: '192.0.2.2' }],
    ['a person in the same network', someone, { userId: 'a' }],
  ])('serves %s before most of what one waits for', async (_who, busy, other) => {
    let served = 0;
    const crowd = Array.from({ length: 100 }, async () => {
      await hasher.verify(null, 'wrong', busy).then(
        () => (served += 1),
        () => undefined,
      );
    });
    expect(await hasher.verify(null, 'wrong', other)).toBe(false);
    expect(served).toBeLessThan(10);
    await Promise.all(crowd);
  });
});
