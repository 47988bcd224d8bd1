import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const isOurs = (file: string) =>
  !/node_modules|\.spec\.tsx?$|apps\/console\/api\/schema\.ts|\.routeTree\.|\/i18n\//.test(file);
const filesOf = (...patterns: string[]) =>
  patterns.flatMap((pattern) => globSync(pattern, { cwd: root })).filter(isOurs);

/**
 * Words that the glossary replaces, and idioms that nobody would use. apps/console/i18n/texts.spec.ts is stricter with
 * the console.
 */
const NEVER =
  /\b(USD of balance|balance of \d+ USD|set aside|under way|g[ia]v(e|es|en|ing) (\w+ ){0,3}back|gave (\w+ ){0,3}back|since ever|for ever|anew|so many|whoever|told|stands here|as it stands|looked for|goes by|taken down|pictures?)\b/i;

/** Without code, links and settings, whose names are fixed. */
function proseOf(markdown: string): string {
  return markdown.replaceAll(/```[\s\S]*?```|`[^`]*`|\]\([^)]*\)/g, '');
}

const SQL = /\b(SELECT|FROM|WHERE|WITH|JOIN|SET|CASE|WHEN|AS \()\b|upc\(/;

/** String literals that are sentences: help, messages, descriptions. */
function sentencesOf(code: string): string {
  const withoutComments = code.replaceAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, '');
  const literals = withoutComments.match(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g) ?? [];
  return literals
    .filter((literal) => /\w \w+ \w/.test(literal) && !SQL.test(literal))
    .map((literal) => literal.replaceAll(/\$\{[^}]*\}/g, ''))
    .join('\n');
}

function foundIn(files: string[], textOf: (content: string) => string): string[] {
  return files.flatMap((file) =>
    textOf(readFileSync(join(root, file), 'utf8'))
      .split('\n')
      .flatMap((line) => (NEVER.test(line) ? [`${file}: ${NEVER.exec(line)![0]}: ${line.trim()}`] : [])),
  );
}

it('docs, READMEs and alerts use the words of the glossary', () => {
  const texts = filesOf(
    '*.md',
    'docs/**/*.md',
    '{apps,libs,test,scripts,deploy}/**/*.md',
    'monitoring/**/*.yml',
  );
  expect(foundIn(texts, proseOf)).toEqual([]);
});

it('help, errors, logs and API descriptions do too', () => {
  expect(foundIn(filesOf('{apps,libs}/**/*.{ts,tsx}'), sentencesOf)).toEqual([]);
});
