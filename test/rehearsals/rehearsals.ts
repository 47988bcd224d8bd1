import { badNetworks } from './bad-network.js';
import { fullDisk } from './full-disk.js';
import type { Rehearsal } from './rehearsal.js';
import { standbyTakesOver } from './standby-takes-over.js';

/** In the order in which they run. */
export const rehearsals: readonly Rehearsal[] = [standbyTakesOver, ...badNetworks, fullDisk];
