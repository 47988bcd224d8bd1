import { beforeAll, describe, expect, it } from 'vitest';
import { ensureBuilt } from '../support/programs.js';
import { rehearse } from './rehearsal.js';
import { rehearsals } from './rehearsals.js';
import { Undo } from './undo.js';

describe('what the programs depend on, taken away under load', () => {
  beforeAll(() => ensureBuilt());

  it.each(rehearsals.filter(({ isQuick }) => isQuick))(
    '$fault: nothing lost or doubled',
    async (rehearsal) => {
      const result = await rehearse(rehearsal, { undo: new Undo(), say: () => undefined });
      expect(result).toMatchObject({ faults: [], lost: 0, doubled: 0, unanswered: 0, held: '0' });
    },
  );
});
