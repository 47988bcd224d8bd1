import { describe, expect, it } from 'vitest';
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

/** What `t(...)` is called with: whole keys, and the beginnings of keys that are put together. */
const literals = new Set([...code.matchAll(/['"`]([\w.-]+)['"`]/g)].map(([, text]) => text as string));
const beginnings = [
  ...[...code.matchAll(/`([\w.]+\.)\$\{/g)].map(([, text]) => text as string),
  ...[...code.matchAll(/optionsOf\([^\n]*?\bt\('([\w.]+)'/g)].map(([, text]) => `${text}.`),
];

/** Keys whose texts are read together. */
const groups = [...code.matchAll(/\bt\(\s*'([\w.-]+)'/g)].map(([, text]) => `${text}.`);
const words = new Set(code.match(/[\w-]+/g));

function isUsed(key: string): boolean {
  return (
    literals.has(key) ||
    beginnings.some((beginning) => key.startsWith(beginning)) ||
    (words.has(key.replace(/.*\./, '')) && groups.some((group) => key.startsWith(group)))
  );
}

describe.each(namespaces)('the texts of %s', (namespace) => {
  const english = textsOf('en', namespace);
  const chinese = textsOf('zh', namespace);
  const keysOf = (texts: Map<string, string>) => [...new Set([...texts.keys()].map(withoutPlural))].sort();

  it('exist in both languages', () => {
    expect(keysOf(chinese)).toEqual(keysOf(english));
  });

  it('have the same placeholders in both languages', () => {
    for (const [key, text] of [...english, ...chinese]) expect([key, text.trim()]).not.toEqual([key, '']);
    const different = [...chinese].filter(([key, text]) => {
      const original = english.get(key) ?? english.get(`${withoutPlural(key)}_other`) ?? '';
      return placeholdersOf(original).join() !== placeholdersOf(text).join();
    });
    expect(different).toEqual([]);
  });

  it('are in Chinese if they should be', () => {
    const same = [...chinese].filter(([key, text]) => english.get(key) === text && /[a-z]{4,}/.test(text));
    expect(same).toEqual([]);
  });

  it('are all shown somewhere', () => {
    expect(keysOf(english).filter((key) => !isUsed(key))).toEqual([]);
  });
});

/**
 * The words that the glossary replaces, by concept: credits, held, refunded, released, charged, image, type, payout,
 * outbox.
 */
const NEVER = {
  en: /\b(USD of balance|balance of \d+ USD|set aside|under way|giv(e|es|en) (\w+ ){0,3}back|shall|settled|pictures?|kinds?|famil(y|ies)|told|stands?|goes by|anew|so many|whoever|taken down|since ever|for ever)\b/i,
  zh: /余额 USD|美元余额|预留|图片|文本|类别|提现|发件箱/,
};

/** Only accounts are frozen, and only a transfer or a payout is returned; customers read about holds and refunds. */
const CUSTOMERS_NEVER = /(?<!账户已被?)冻结|退回/;
const CUSTOMERS = ['calls', 'tokens', 'user', 'visitor', 'wallet', 'webhooks'];

describe('the words of the product', () => {
  const everyText = (language: 'en' | 'zh', from: readonly string[]) =>
    from.flatMap((namespace) =>
      [...textsOf(language, namespace)].map(([key, text]) => ({
        key: `${namespace}:${key}`,
        text: text.replace(/\{\{\w+\}\}/g, ''),
      })),
    );

  it.each(['en', 'zh'] as const)('are those of the glossary in %s', (language) => {
    expect(everyText(language, namespaces).filter(({ text }) => NEVER[language].test(text))).toEqual([]);
  });

  it('use frozen only for accounts, and returned only for transfers', () => {
    expect(everyText('zh', CUSTOMERS).filter(({ text }) => CUSTOMERS_NEVER.test(text))).toEqual([]);
  });
});
