import { statfsSync } from 'node:fs';
import './sources.mjs';

const MEMORY = '/dev/shm';
/** More than the databases and files of a test run need. */
const ENOUGH_BYTES = 4 * 2 ** 30;

/** Runs before the specs: offers them a database cluster, which starts when the first spec asks for it. */
export default async function setup() {
  if (hasRoom(MEMORY)) process.env.TMPDIR ??= MEMORY;
  const { offerCluster } = await import('./cluster.ts');
  const cluster = await offerCluster();
  return () => cluster.close();
}

/** Whether temporary files fit into memory. There, copying a database takes milliseconds; on a disk, up to a second. */
function hasRoom(folder) {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize >= ENOUGH_BYTES;
  } catch {
    return false;
  }
}
