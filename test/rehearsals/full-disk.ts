import { startDatabase } from '../support/outages/database.js';
import { Disk } from '../support/outages/disk.js';
import type { Rehearsal } from './rehearsal.js';

/** These calls write more than fits into the free space of the tables' pages. */
const CALLS = 80;

/** The database's disk stays full until it gets more room. */
export const fullDisk: Rehearsal = {
  name: 'disk',
  fault: "the disk of PostgreSQL's data full, freed later (needs root)",
  isQuick: false,
  prepare: async (undo) => {
    const disk = Disk.open(undo);
    const { env } = await startDatabase(undo, disk.folder);
    return {
      env,
      hurt: async ({ load }) => {
        await disk.fill();
        await load.ended(CALLS);
        disk.free();
        return performance.now();
      },
    };
  },
};
