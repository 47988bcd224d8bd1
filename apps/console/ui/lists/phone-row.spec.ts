import { describe, expect, it } from 'vitest';
import { phonePlaces } from './phone-row.js';

describe('a row on a phone', () => {
  it('is titled by its first words, with the first amount beside it and the rest below', () => {
    const columns = [
      { id: 'at' },
      { id: 'model' },
      { id: 'state' },
      { id: 'units', align: 'right' as const },
      { id: 'settled', align: 'right' as const, isMoney: true },
      { id: 'do', align: 'right' as const },
    ];
    expect(Object.fromEntries(phonePlaces(columns))).toEqual({
      at: 'below',
      model: 'main',
      state: 'below',
      units: 'below',
      settled: 'side',
      do: 'below',
    });
  });

  it('has numbers that are not amounts below it, beside their names', () => {
    const columns = [{ id: 'name' }, { id: 'models', align: 'right' as const }];
    expect(phonePlaces(columns).get('models')).toBe('below');
  });

  it('follows columns that say where they belong', () => {
    const places = phonePlaces([
      { id: 'name', phone: 'below' },
      { id: 'mail', phone: 'main' },
      { id: 'amount', align: 'right', isMoney: true, phone: 'hidden' },
      { id: 'rest', align: 'right', phone: 'side' },
    ]);
    expect([...places.values()]).toEqual(['below', 'main', 'hidden', 'side']);
  });

  it('is titled by its time if there is nothing else', () => {
    expect(phonePlaces([{ id: 'at' }]).get('at')).toBe('main');
  });
});
