import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigReader } from './config.js';

let folder: string;
let file: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-config-'));
  file = join(folder, 'secret');
});
afterAll(() => rmSync(folder, { recursive: true }));

function faultOf(env: NodeJS.ProcessEnv, read: (reader: ConfigReader) => unknown): string {
  const reader = new ConfigReader(env);
  read(reader);
  try {
    reader.finish({});
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}

const secret = (reader: ConfigReader) => reader.secret('KEY', 8);
const url = (reader: ConfigReader) => reader.secretUrl('DATABASE_URL');

describe('a secret', () => {
  it('comes from its variable, or from a file without the end of its line', () => {
    expect(secret(new ConfigReader({ KEY: 'from the variable' }))).toBe('from the variable');
    writeFileSync(file, 'from the file\r\n');
    expect(secret(new ConfigReader({ KEY_FILE: file }))).toBe('from the file');
    expect(secret(new ConfigReader({ KEY: '', KEY_FILE: file }))).toBe('from the file');
  });

  it('comes from one of them', () => {
    writeFileSync(file, 'from the file');
    expect(faultOf({ KEY: 'from the variable', KEY_FILE: file }, secret)).toBe(
      'Configuration: KEY and KEY_FILE must not both be set.',
    );
  });

  it('has one fault, by the name of its variable and never by its value', () => {
    expect(faultOf({}, secret)).toBe('Configuration: KEY must be set, or KEY_FILE.');
    expect(faultOf({ KEY: 'short' }, secret)).toBe('Configuration: KEY must have at least 8 characters.');
    expect(faultOf({ KEY_FILE: join(folder, 'none') }, secret)).toBe(
      'Configuration: KEY_FILE names a file that cannot be read (ENOENT).',
    );
    expect(faultOf({ KEY_FILE: folder }, secret)).toBe(
      'Configuration: KEY_FILE names a file that cannot be read (EISDIR).',
    );
    writeFileSync(file, '\n');
    expect(faultOf({ KEY_FILE: file }, secret)).toBe('Configuration: KEY_FILE names an empty file.');
  });
});

describe('an address with a login', () => {
  const DATABASE_URL = 'postgresql://tollgate_gateway@db:5432/tollgate';

  it.each(['p@ss#w/rd?', '%40', 'ü ', 'plain'])(
    'takes the password %j from a variable of its own',
    (password) => {
      const read = url(new ConfigReader({ DATABASE_URL, DATABASE_PASSWORD: password }));
      expect(decodeURIComponent(new URL(read).password)).toBe(password);
      writeFileSync(file, `${password}\n`);
      expect(url(new ConfigReader({ DATABASE_URL, DATABASE_PASSWORD_FILE: file }))).toBe(read);
    },
  );

  it('may be in a file with its password', () => {
    const whole = 'postgresql://tollgate_gateway:secret@db:5432/tollgate';
    writeFileSync(file, `${whole}\n`);
    expect(url(new ConfigReader({ DATABASE_URL_FILE: file }))).toBe(whole);
  });

  it('says where a password belongs that makes it unreadable', () => {
    expect(faultOf({ DATABASE_URL: 'postgresql://tollgate_gateway:a#b@db:5432/tollgate' }, url)).toBe(
      'Configuration: DATABASE_URL must be an absolute URL; a password with characters such as @, # or / belongs into DATABASE_PASSWORD.',
    );
    expect(
      faultOf(
        { DATABASE_URL: 'postgresql://tollgate_gateway:one@db/tollgate', DATABASE_PASSWORD: 'two' },
        url,
      ),
    ).toBe('Configuration: DATABASE_URL must be without a password where DATABASE_PASSWORD is set.');
  });
});

it('knows every variable that was asked for', () => {
  const reader = new ConfigReader({});
  reader.seconds('LIFE_SECONDS', 1);
  reader.optionalSecretUrl('DATABASE_URL');
  expect([...reader.names].sort()).toEqual([
    'DATABASE_PASSWORD',
    'DATABASE_PASSWORD_FILE',
    'DATABASE_URL',
    'DATABASE_URL_FILE',
    'LIFE_SECONDS',
  ]);
});
