import { tmpdir } from 'node:os';
import { startDatabase } from '../support/outages/database.js';
import { named, startResolver } from '../support/outages/resolver.js';
import { SANDBOX_API_KEY, startUpstream } from '../support/outages/upstream.js';
import type { Rehearsal } from './rehearsal.js';

const DATABASE = 'database.test';
const UPSTREAM = 'upstream.test';
/** Calls while names do not resolve. */
const CALLS = 40;

/** Open connections need no name, so they are cut as well. */
export const namesGone: Rehearsal = {
  name: 'names',
  fault: 'the name server silent and every connection to PostgreSQL and the upstream cut (needs root)',
  isQuick: false,
  prepare: async (undo) => {
    const { names, under } = await startResolver(undo, [DATABASE, UPSTREAM]);
    const database = await startDatabase(undo, tmpdir());
    const upstream = await startUpstream(undo);
    const ways = [database.way, upstream.way];
    return {
      under,
      env: {
        DATABASE_URL: named(database.env['DATABASE_URL']!, DATABASE),
        ADMIN_DATABASE_URL: named(database.env['ADMIN_DATABASE_URL']!, DATABASE),
        SANDBOX_URL: `http://${UPSTREAM}:${upstream.way.port}`,
        SANDBOX_API_KEY,
      },
      reach: { databaseUrl: database.env['DATABASE_URL']!, sandboxUrl: upstream.url },
      hurt: async ({ load }) => {
        names.silence();
        for (const way of ways) way.cut();
        await load.failing(CALLS);
        names.speak();
        return performance.now();
      },
    };
  },
};
