import { tmpdir } from 'node:os';
import { startDatabase } from '../support/outages/database.js';
import { GreedyClient } from '../support/outages/greedy-client.js';
import type { Rehearsal } from './rehearsal.js';

/** Calls while no connection is free. */
const CALLS = 40;

export const poolsExhausted: Rehearsal = {
  name: 'pools',
  fault: 'every connection that PostgreSQL allows taken by another client, later freed',
  isQuick: true,
  prepare: async (undo) => {
    const database = await startDatabase(undo, tmpdir());
    const greedy = new GreedyClient(database.server);
    undo.add(() => greedy.free());
    return {
      env: database.env,
      hurt: async ({ load }) => {
        await greedy.takeAll();
        await load.failing(CALLS);
        await greedy.free();
        return performance.now();
      },
    };
  },
};
