import { beforeAll, expect, it } from 'vitest';
import { ensureBuilt } from '../support/programs.js';
import { rehearse } from './rehearsal.js';
import { CannotRunHere } from './result.js';
import { Undo } from './undo.js';
import { upgradeAndRollback } from './versions.js';

beforeAll(() => ensureBuilt(), 120_000);

it(`${upgradeAndRollback.fault}: no call fails, nothing lost or doubled`, async ({ skip }) => {
  const result = await rehearse(upgradeAndRollback, { undo: new Undo(), say: () => undefined }).catch(
    (error: Error) => (error instanceof CannotRunHere ? skip(error.message) : Promise.reject(error)),
  );
  expect(result).toMatchObject({ faults: [], failed: 0, lost: 0, doubled: 0, unanswered: 0, held: '0' });
});
