import { beforeAll, expect, it } from 'vitest';
import { ensureBuilt } from '../support/programs.js';
import { type Rehearsal, rehearse } from './rehearsal.js';
import { Undo } from '../support/outages/undo.js';

/** A test for each quick rehearsal. `npm run rehearse` runs all of them. */
export function itRehearses(rehearsals: readonly Rehearsal[]): void {
  beforeAll(() => ensureBuilt());

  it.each(rehearsals.filter(({ isQuick }) => isQuick))(
    '$fault: nothing lost or doubled',
    async (rehearsal) => {
      const result = await rehearse(rehearsal, { undo: new Undo(), say: () => undefined });
      expect(result).toMatchObject({ faults: [], lost: 0, doubled: 0, unanswered: 0, held: '0' });
    },
  );
}
