import { beforeAll, expect, it } from 'vitest';
import { ensureBuilt } from '../support/programs.js';
import { rehearse } from './rehearsal.js';
import { CannotRunHere } from './result.js';
import { Undo } from '../support/outages/undo.js';
import { upgradeAndRollback } from './versions.js';

beforeAll(() => ensureBuilt());

it(`${upgradeAndRollback.fault}: no call fails, nothing lost or doubled`, async ({ task, skip }) => {
  const result = await rehearse(upgradeAndRollback, { undo: new Undo(), say: () => undefined }).catch(
    (error: Error) => {
      const isRequired = process.env['TOLLGATE_REQUIRE_VERSION_BEFORE'] === '1';
      if (isRequired || !(error instanceof CannotRunHere)) throw error;
      // `npm test` prints it at the end.
      Object.assign(task.meta, { leftOut: error.message });
      return skip(error.message);
    },
  );
  expect(result).toMatchObject({ faults: [], failed: 0, lost: 0, doubled: 0, unanswered: 0, held: '0' });
});
