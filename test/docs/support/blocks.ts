import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeSamples } from '#apps/console/visitor/code-samples.js';

export const root = join(import.meta.dirname, '../../..');

/** A fenced block in a text. */
export interface Block {
  page: string;
  /** The line of its first fence. */
  line: number;
  language: string;
  code: string;
  /** Why it is not run. */
  reason: string | undefined;
  /** Whether it shows what the previous block prints, by its shape. */
  isAnswer: boolean;
  /** The event that the server that it starts receives. */
  receives: string | undefined;
}

/** The texts that people read: README.md and docs/, including the API pages that the build writes. */
export function pages(): string[] {
  const below = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' });
  const texts = below.filter((name) => name.endsWith('.md') && !name.includes('node_modules'));
  return ['README.md', ...texts.sort().map((name) => `docs/${name}`)];
}

/** A page's fenced blocks, in order. */
export function blocksOf(page: string): Block[] {
  const text = readFileSync(join(root, page), 'utf8');
  return [...text.matchAll(/^```(\S*)[ \t]*(.*)\n([\s\S]*?)^```$/gm)].map((found) => {
    const [, language = '', words = '', code = ''] = found;
    return {
      page,
      line: text.slice(0, found.index).split('\n').length,
      language,
      code,
      reason: /\bno-run="([^"]*)"/.exec(words)?.[1],
      isAnswer: /\banswer\b/.test(words),
      receives: /\breceives="([^"]*)"/.exec(words)?.[1],
    };
  });
}

/** The programs on the console's page for code, as blocks like those of the texts. */
export function consoleSamples(): Block[] {
  const samples = codeSamples({ baseUrl: 'http://127.0.0.1:8787', apiKey: 'sk-tg-…' });
  return samples.map(({ id, language, code }) => ({
    page: id,
    line: 1,
    language,
    code,
    reason: undefined,
    isAnswer: false,
    receives: undefined,
  }));
}

export function nameOf({ page, line, language }: Block): string {
  return `${page}:${line} ${language}`;
}

/** Where a value lacks what an example shows: the same fields, with the same types. */
export function differencesIn(example: unknown, value: unknown, where = 'the answer'): string[] {
  if (example === null || value === null) return [];
  const kind = (each: unknown) => (Array.isArray(each) ? 'list' : typeof each);
  if (kind(example) !== kind(value)) return [`${where} is of the type ${kind(value)}`];
  if (Array.isArray(example))
    return example.length === 0 ? [] : differencesIn(example[0], (value as unknown[])[0], `${where}[]`);
  if (typeof example !== 'object') return [];
  const fields = value as Record<string, unknown>;
  return Object.entries(example).flatMap(([name, each]) =>
    name in fields ? differencesIn(each, fields[name], `${where}.${name}`) : [`${where} has no ${name}`],
  );
}
