import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { lacking, sentenceKeys } from '#apps/console/finance/books/finding-sentence.js';
import type { Control, ControlItem } from '#finance/control.js';
import type { Said } from '#platform/said.js';

const FOLDER = join(import.meta.dirname, '../../apps/console/i18n/en');

function textOf(key: string, namespace = 'findings'): string | undefined {
  const texts: unknown = JSON.parse(readFileSync(join(FOLDER, `${namespace}.json`), 'utf8'));
  const found = key.split('.').reduce<unknown>((at, part) => (at as Record<string, unknown>)?.[part], texts);
  return typeof found === 'string' ? found : undefined;
}

/** What the console would omit from a finding: values that its sentence lacks, and details without a label. */
export function unsaid({ id }: Control, { state, details }: ControlItem): string[] {
  const { how, also: _, ...shown } = details;
  const sentence = sentenceKeys(id, state, how).flatMap((key) => textOf(key) ?? [])[0];
  if (sentence === undefined) return [`${id}: ${state} has no sentence`];
  return [
    ...lacking(sentence, details).map((name) => `${id}: the sentence of ${state} lacks ${name}`),
    ...Object.keys(shown).flatMap((name) => (textOf(`details.${name}`) ? [] : `${id}: ${name} has no label`)),
  ];
}

/** The same for a row that an import refuses. */
export function unsaidRefusal(namespace: 'prices' | 'costs', { code, params }: Said): string[] {
  const sentence = textOf(`refusals.${code}`, namespace);
  if (sentence === undefined) return [`${code} has no sentence`];
  return lacking(sentence, params).map((name) => `the sentence of ${code} lacks ${name}`);
}
