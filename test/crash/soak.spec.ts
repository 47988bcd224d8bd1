import { beforeAll, describe, expect, it } from 'vitest';
import { randomInt } from 'node:crypto';
import { Undo } from '../support/outages/undo.js';
import { drawStrikes, shrink } from '../soak/schedule.js';
import { soak } from '../soak/soak.js';
import { ensureBuilt } from '../support/programs.js';

const SEED = Number(process.env['SOAK_SEED'] ?? randomInt(2 ** 31));
const MINUTES = 2;

describe(`a world of customers while faults strike (SOAK_SEED=${SEED})`, () => {
  beforeAll(() => ensureBuilt());

  it('gets answers that agree with its books, and every rule and control holds', async ({ task }) => {
    const options = { seed: SEED, minutes: MINUTES, mode: 'standalone' } as const;
    const { faults, lost, doubled, answered, checks, missing } = await soak(options, {
      undo: new Undo(),
      say: () => undefined,
    });
    const impossible = missing.filter(({ strikes }) => strikes > 0);
    // `npm test` prints it at the end.
    Object.assign(task.meta, { leftOut: impossible.map(({ what, why }) => `${what} (${why})`).join(', ') });
    expect({ faults, lost, doubled }).toEqual({ faults: [], lost: 0, doubled: 0 });
    expect(answered).toBeGreaterThan(0);
    expect(checks).toBeGreaterThan(0);
  });
});

describe('the strikes of a soak', () => {
  const drawn = (seed: number) => drawStrikes({ seed, minutes: 3, kinds: ['relay', 'postgres'] });

  it('are the same for the same seed, ordered by time', () => {
    expect(drawn(7)).toEqual(drawn(7));
    expect(drawn(7)).not.toEqual(drawn(8));
    const times = drawn(7).map(({ at }) => at);
    expect(times).toEqual(times.toSorted((one, other) => one - other));
  });

  it('are of every kind, and last 2 to 8 seconds', () => {
    const strikes = Array.from({ length: 20 }, (_, seed) => drawn(seed)).flat();
    expect(new Set(strikes.map(({ kind }) => kind))).toEqual(new Set(['relay', 'postgres', 'point']));
    expect(strikes.filter(({ seconds }) => seconds < 2 || seconds > 8)).toEqual([]);
  });

  it('are halved for as long as the rest still fails, in no more runs than allowed', async () => {
    const numbers = Array.from({ length: 20 }, (_, index) => index + 1);
    let runs = 0;
    const fails = async (fewer: readonly number[]) => {
      runs += 1;
      return fewer.includes(19);
    };
    expect(await shrink(numbers, { fails, runs: 100 })).toEqual([19]);
    runs = 0;
    const some = await shrink(numbers, { fails, runs: 2 });
    expect(runs).toBe(2);
    expect(some).toEqual(numbers.slice(10));
    expect(await shrink(numbers, { fails: async () => false, runs: 100 })).toEqual(numbers);
  });
});
