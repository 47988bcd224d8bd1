import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { controls } from '#finance/controls.js';
import { costFaultCodes } from '#finance/costs/cost-fault.js';
import { foundStates } from '#finance/found-states.js';
import { noteCodes } from '#finance/periods/checklist-note.js';
import { priceFaultCodes } from '#marketplace/prices/price-fault.js';

const i18n = join(import.meta.dirname, '../../apps/console/i18n');
const textsOf = (language: string, namespace: string): unknown =>
  JSON.parse(readFileSync(join(i18n, language, `${namespace}.json`), 'utf8'));

interface FindingTexts {
  states: Record<string, string>;
  sentences: Record<string, Record<string, string>>;
  notes: Record<string, string>;
}

/** The server sends codes and parameters, and the console must have the words for them. */
describe.each(['en', 'zh'])('the words of the console in %s', (language) => {
  const { states, sentences, notes } = textsOf(language, 'findings') as FindingTexts;
  const { controls: named } = textsOf(language, 'finance') as {
    controls: Record<'titles' | 'explanations', Record<string, string>>;
  };

  it('have a sentence for each finding of each control', () => {
    const missing = controls.flatMap(({ id, states: found }) =>
      found
        .filter((state) => !sentences[id]?.[state] && !sentences['any']?.[state])
        .map((state) => `${id}: ${state}`),
    );
    expect(missing).toEqual([]);
  });

  it('have no sentence that no control can produce', () => {
    const unused = Object.entries(sentences).flatMap(([id, own]) => {
      const found = controls.find((control) => control.id === id)?.states ?? foundStates;
      return Object.keys(own).filter(
        (key) => !found.some((state) => key === state || key.startsWith(`${state}_`)),
      );
    });
    expect(unused).toEqual([]);
  });

  it('have a sentence for each refusal of a row', () => {
    const refusalsOf = (namespace: string) =>
      (textsOf(language, namespace) as { refusals: Record<string, string> }).refusals;
    expect(Object.keys(refusalsOf('prices')).sort()).toEqual([...priceFaultCodes].sort());
    expect(Object.keys(refusalsOf('costs')).sort()).toEqual([...costFaultCodes].sort());
  });

  it('name each state, each checklist note and each control', () => {
    expect(Object.keys(states).sort()).toEqual([...foundStates].sort());
    expect(Object.keys(notes).sort()).toEqual(noteCodes.filter((code) => code !== 'finding').sort());
    const ids = controls.map(({ id }) => id).sort();
    expect(Object.keys(named.titles).sort()).toEqual(ids);
    expect(Object.keys(named.explanations).sort()).toEqual(ids);
  });
});
