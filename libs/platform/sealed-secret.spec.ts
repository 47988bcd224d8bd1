import { describe, expect, it } from 'vitest';
import { randomBytes } from 'node:crypto';
import { ConfigReader } from './config.js';
import { isSealed, newSecretsKey, parseKeys, readSecrets, SecretBox } from './sealed-secret.js';

const [one, two] = [randomBytes(32), randomBytes(32)];
const box = new SecretBox([one]);

describe('a sealed secret', () => {
  it('opens in its place, and reveals nothing of its content', () => {
    const sealed = box.seal('sk-upstream-key', 'channels/main');
    expect(isSealed(sealed)).toBe(true);
    expect(sealed).not.toContain('sk-upstream');
    expect(box.open(sealed, 'channels/main')).toBe('sk-upstream-key');
    expect(box.seal('sk-upstream-key', 'channels/main')).not.toBe(sealed);
  });

  it('opens nowhere else, and not if one bit of it was changed', () => {
    const sealed = box.seal('a secret', 'channels/main');
    expect(() => box.open(sealed, 'channels/other')).toThrow('The secret of channels/other was changed');
    const bytes = Buffer.from(sealed.split(':').at(-1)!, 'base64url');
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes);
      changed[at]! ^= 1;
      const text = sealed.replace(/[^:]+$/, changed.toString('base64url'));
      expect(() => box.open(text, 'channels/main')).toThrow('was changed');
    }
    const short = sealed.replace(/[^:]+$/, bytes.subarray(0, 8).toString('base64url'));
    expect(() => box.open(short, 'channels/main')).toThrow('was changed');
  });

  it('names the key that is missing', () => {
    const sealed = box.seal('a secret', 'users/1');
    const id = sealed.split(':')[2]!;
    expect(() => new SecretBox([two]).open(sealed, 'users/1')).toThrow(`SECRETS_KEY lacks the key ${id}`);
    expect(() => new SecretBox([]).seal('a secret', 'users/1')).toThrow('SECRETS_KEY must be set');
  });

  it('is sealed by the first key and opened by all', () => {
    const sealed = box.seal('a secret', 'users/1');
    const both = new SecretBox([two, one]);
    expect(both.open(sealed, 'users/1')).toBe('a secret');
    expect(both.isCurrent(sealed)).toBe(false);
    expect(both.isCurrent(both.seal('a secret', 'users/1'))).toBe(true);
  });

  it('is returned as it is if it was never sealed', () => {
    expect(box.open('a plain one', 'users/1')).toBe('a plain one');
  });
});

describe('SECRETS_KEY', () => {
  it('accepts keys in base64 and hex, separated by commas or newlines', () => {
    const text = `${one.toString('base64')},\n${two.toString('hex')}\n`;
    expect(parseKeys(text)).toEqual([one, two]);
    expect(parseKeys(newSecretsKey())).toHaveLength(1);
  });

  it.each(['short', '', 'a'.repeat(44), `${one.toString('base64')},short`])('refuses %j', (SECRETS_KEY) => {
    const reader = new ConfigReader({ SECRETS_KEY });
    readSecrets(reader);
    expect(() => reader.finish({})).toThrow('Configuration: SECRETS_KEY must be');
  });
});
