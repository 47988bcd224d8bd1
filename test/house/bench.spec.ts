import { describe, expect, it } from 'vitest';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ensureBuilt } from '../support/programs.js';

const root = join(import.meta.dirname, '../..');

interface ScaleResult {
  medians: Record<'new' | 'tenth' | 'whole', Record<string, number>>;
  ratios: Record<string, { ofTenth: number; ofNew: number }>;
}

describe('npm run bench -- scale', () => {
  it('loads three ledgers and measures them beside each other', async () => {
    ensureBuilt();
    const asked = ['--entries', '60000', '--accounts', '100', '--seconds', '1', '--rounds', '1', '--json'];
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['dist/test/bench/main.js', 'scale', ...asked],
      { cwd: root },
    );
    const { medians, ratios } = JSON.parse(stdout) as ScaleResult;
    for (const stage of Object.values(medians)) {
      expect(Object.keys(stage)).toHaveLength(5);
      for (const figure of Object.values(stage)) expect(figure).toBeGreaterThan(0);
    }
    expect(ratios['postingsPerSecond']?.ofTenth).toBeCloseTo(
      medians.whole['postingsPerSecond']! / medians.tenth['postingsPerSecond']!,
    );
  });
});
