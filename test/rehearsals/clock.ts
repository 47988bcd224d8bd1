import { tmpdir } from 'node:os';
import { JumpingClock } from '../support/outages/clock.js';
import { startDatabase } from '../support/outages/database.js';
import type { Rehearsal } from './rehearsal.js';

const HOUR_S = 3_600;
/** Programs on other machines, whose clock differs from the database's. */
const CLOCKED = ['gateway', 'videoWorker'] as const;

export const clockJumps: Rehearsal = {
  name: 'clock',
  fault:
    'the clock of gateway and video worker an hour ahead, then an hour behind, then right (needs libfaketime)',
  isQuick: true,
  prepare: async (undo) => {
    const clock = new JumpingClock(undo);
    const { env } = await startDatabase(undo, tmpdir());
    return {
      env,
      differing: Object.fromEntries(CLOCKED.map((kind) => [kind, clock.environment])),
      hurt: async ({ relay, load }) => {
        const urls = CLOCKED.flatMap((kind) => relay.ready.healthUrls[kind]);
        for (const offsetS of [HOUR_S, -HOUR_S]) {
          await clock.jumpTo(offsetS, urls);
          await load.served(performance.now(), () => relay.logs());
        }
        await clock.jumpTo(0, urls);
        return performance.now();
      },
    };
  },
};
