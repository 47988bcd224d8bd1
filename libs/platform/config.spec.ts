import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigReader } from './config.js';
import { count, login, secret, seconds } from './settings/setting.js';

const SETTINGS = {
  KEY: secret('A key', 8),
  DATABASE_URL: login('The database'),
  LIFE_SECONDS: seconds('How long', 1.5),
  MANY: count('How many', 3, { max: 9 }),
};
type Reader = ConfigReader<typeof SETTINGS>;
const readerOf = (env: NodeJS.ProcessEnv): Reader => new ConfigReader(env, SETTINGS);

let folder: string;
let file: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-config-'));
  file = join(folder, 'secret');
});
afterAll(() => rmSync(folder, { recursive: true }));

function faultOf(env: NodeJS.ProcessEnv, read: (reader: Reader) => unknown): string {
  const reader = readerOf(env);
  read(reader);
  try {
    reader.finish({});
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}

const key = (reader: Reader) => reader.get('KEY');
const url = (reader: Reader) => reader.get('DATABASE_URL');

describe('a secret', () => {
  it('comes from its variable, or from a file, without the newline at its end', () => {
    expect(key(readerOf({ KEY: 'from the variable' }))).toBe('from the variable');
    writeFileSync(file, 'from the file\r\n');
    expect(key(readerOf({ KEY_FILE: file }))).toBe('from the file');
    expect(key(readerOf({ KEY: '', KEY_FILE: file }))).toBe('from the file');
  });

  it('comes from only one of them', () => {
    writeFileSync(file, 'from the file');
    expect(faultOf({ KEY: 'from the variable', KEY_FILE: file }, key)).toBe(
      'Configuration: KEY and KEY_FILE must not both be set.',
    );
  });

  it('has one error, which names its variable and never its value', () => {
    expect(faultOf({}, key)).toBe('Configuration: KEY must be set, or KEY_FILE.');
    expect(faultOf({ KEY: 'short' }, key)).toBe('Configuration: KEY must have at least 8 characters.');
    expect(faultOf({ KEY_FILE: join(folder, 'none') }, key)).toBe(
      'Configuration: KEY_FILE names a file that cannot be read (ENOENT).',
    );
    expect(faultOf({ KEY_FILE: folder }, key)).toBe(
      'Configuration: KEY_FILE names a file that cannot be read (EISDIR).',
    );
    writeFileSync(file, '\n');
    expect(faultOf({ KEY_FILE: file }, key)).toBe('Configuration: KEY_FILE names an empty file.');
  });
});

describe('an address with a login', () => {
  const DATABASE_URL = 'postgresql://tollgate_gateway@db:5432/tollgate';

  it.each(['p@ss#w/rd?', '%40', 'ü ', 'plain'])(
    'takes the password %j from a separate variable',
    (password) => {
      const read = url(readerOf({ DATABASE_URL, DATABASE_PASSWORD: password }));
      expect(decodeURIComponent(new URL(read).password)).toBe(password);
      writeFileSync(file, `${password}\n`);
      expect(url(readerOf({ DATABASE_URL, DATABASE_PASSWORD_FILE: file }))).toBe(read);
    },
  );

  it('may be in a file with its password', () => {
    const whole = 'postgresql://tollgate_gateway:secret@db:5432/tollgate';
    writeFileSync(file, `${whole}\n`);
    expect(url(readerOf({ DATABASE_URL_FILE: file }))).toBe(whole);
  });

  it('says where to put a password that makes it unreadable', () => {
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

it('reads what is set, and falls back to the setting or to the program', () => {
  expect(readerOf({}).get('LIFE_SECONDS')).toBe(1_500);
  expect(readerOf({ LIFE_SECONDS: '0.25' }).get('LIFE_SECONDS')).toBe(250);
  expect(readerOf({ MANY: '' }).get('MANY', 5)).toBe(5);
  expect(readerOf({ MANY: '7' }).get('MANY', 5)).toBe(7);
  expect(faultOf({ MANY: '10' }, (reader) => reader.get('MANY'))).toBe(
    'Configuration: MANY must be a whole number from 1 to 9.',
  );
});

it('knows every setting that was read, with its default', () => {
  const reader = readerOf({ MANY: '7' });
  reader.get('LIFE_SECONDS');
  reader.get('MANY', 5);
  reader.get('DATABASE_URL');
  expect(reader.asked).toEqual([
    { name: 'LIFE_SECONDS', about: 'How long', isSecret: false, isLogin: false, fallback: '1.5' },
    { name: 'MANY', about: 'How many', isSecret: false, isLogin: false, fallback: '5' },
    { name: 'DATABASE_URL', about: 'The database', isSecret: true, isLogin: true, fallback: undefined },
  ]);
});
