import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { withFault } from '../mutants/mutant.js';
import { mutants } from '../mutants/mutants.js';

const read = (path: string) => readFileSync(join(import.meta.dirname, '../..', path), 'utf8');

describe('npm run mutants', () => {
  it.each(mutants.map((mutant) => [mutant.id, mutant] as const))(
    'can plant %s, and its spec has the tests that must find it',
    (_id, mutant) => {
      const source = read(mutant.file);
      expect(withFault(source, mutant)).not.toBe(source);
      expect(read(mutant.spec)).toContain(mutant.test ?? '');
    },
  );

  it('has at least fifty, each with its own name', () => {
    expect(mutants.length).toBeGreaterThanOrEqual(50);
    expect(new Set(mutants.map(({ id }) => id)).size).toBe(mutants.length);
  });
});
