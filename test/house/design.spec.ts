import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const folder = join(import.meta.dirname, '../../apps/console');
const TOKENS = join('ui', 'tokens.css');

/** All lines of the console's files with these endings, except media queries. */
function linesOf(...endings: string[]): { file: string; line: string }[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => !file.includes('node_modules') && endings.some((ending) => file.endsWith(ending)))
    .filter((file) => file !== TOKENS)
    .flatMap((file) =>
      readFileSync(join(folder, file), 'utf8')
        .split('\n')
        .filter((line) => !line.startsWith('@'))
        .map((line) => ({ file, line: line.trim() })),
    );
}

function breaches(lines: { file: string; line: string }[], literal: RegExp): string[] {
  return lines.filter(({ line }) => literal.test(line)).map(({ file, line }) => `${file}: ${line}`);
}

const COLOUR = /(?<![\w&/])#(?:[\da-f]{3,4}){1,2}\b|\b(?:rgb|hsl|hwb|lab|lch|oklab|oklch)a?\(/i;

it('has its colours only in the tokens', () => {
  expect(breaches(linesOf('.css', '.tsx', 'theme.ts'), COLOUR)).toEqual([]);
});

it('has the sizes and times of its styles only in the tokens', () => {
  expect(breaches(linesOf('.css'), /\b\d*\.?\d+(?:px|rem|em|ms|s)\b/)).toEqual([]);
});

it('uses named spaces in pages', () => {
  const literal =
    /\b(?:gap|spacing|\w+Spacing|radius|fz|lh|m[trblxy]?|p[trblxy]?)=(?:\{-?[1-9.][\d.]*\}|"-?[\d.]+)/;
  const pixels = /['"`\s]-?\d+px['"`\s]/;
  expect(breaches(linesOf('.tsx'), literal)).toEqual([]);
  expect(breaches(linesOf('.tsx', 'theme.ts'), pixels)).toEqual([]);
});
