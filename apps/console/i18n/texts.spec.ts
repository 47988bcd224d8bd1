import { describe, expect, it } from '@jest/globals';
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

type Texts = { [key: string]: string | Texts };

const room = join(import.meta.dirname, '..');
const namespaces = readdirSync(join(import.meta.dirname, 'en')).map((file) => file.replace('.json', ''));
const code = globSync('**/*.{ts,tsx}', { cwd: room })
  .filter((file) => !/^api\/schema\.ts$|\.spec\.ts$/.test(file))
  .map((file) => readFileSync(join(room, file), 'utf8'))
  .join('\n');

function textsOf(language: string, namespace: string): Map<string, string> {
  const file = join(import.meta.dirname, language, `${namespace}.json`);
  return new Map(flat(JSON.parse(readFileSync(file, 'utf8')) as Texts));
}

function flat(texts: Texts, path = ''): [string, string][] {
  return Object.entries(texts).flatMap(([key, value]): [string, string][] =>
    typeof value === 'string' ? [[path + key, value]] : flat(value, `${path}${key}.`),
  );
}

/** Languages have different plurals, so their endings do not count. */
function withoutPlural(key: string): string {
  return key.replace(/_(zero|one|two|few|many|other)$/, '');
}

function placeholdersOf(text: string): string[] {
  return [...new Set(text.match(/\{\{\w+\}\}/g) ?? [])].sort();
}

/** What `t(...)` is called with: whole keys, and the beginnings of those that are put together. */
const literals = new Set([...code.matchAll(/['"`]([\w.-]+)['"`]/g)].map(([, text]) => text as string));
const beginnings = [...code.matchAll(/`([\w.]+\.)\$\{/g)].map(([, text]) => text as string);

function isUsed(key: string): boolean {
  return literals.has(key) || beginnings.some((beginning) => key.startsWith(beginning));
}

describe.each(namespaces)('the texts of %s', (namespace) => {
  const english = textsOf('en', namespace);
  const chinese = textsOf('zh', namespace);
  const keysOf = (texts: Map<string, string>) => [...new Set([...texts.keys()].map(withoutPlural))].sort();

  it('are there in both languages', () => {
    expect(keysOf(chinese)).toEqual(keysOf(english));
  });

  it('are filled in, with the same values in both languages', () => {
    for (const [key, text] of [...english, ...chinese]) expect([key, text.trim()]).not.toEqual([key, '']);
    const different = [...chinese].filter(([key, text]) => {
      const original = english.get(key) ?? english.get(`${withoutPlural(key)}_other`) ?? '';
      return placeholdersOf(original).join() !== placeholdersOf(text).join();
    });
    expect(different).toEqual([]);
  });

  it('are in Chinese where they are to be', () => {
    const same = [...chinese].filter(([key, text]) => english.get(key) === text && /[a-z]{4,}/.test(text));
    expect(same).toEqual([]);
  });

  it('are all shown somewhere', () => {
    expect(keysOf(english).filter((key) => !isUsed(key))).toEqual([]);
  });
});
