import { badNetworks } from './bad-network.js';
import { brokers } from './brokers.js';
import { brokersOutOfReach } from './brokers-out-of-reach.js';
import { clockJumps } from './clock.js';
import { fullDisk } from './full-disk.js';
import { namesGone } from './names.js';
import { pointInTime } from './point-in-time.js';
import { poolsExhausted } from './pools.js';
import type { Rehearsal } from './rehearsal.js';
import { rollingRestart } from './rolling-restart.js';
import { standbyTakesOver } from './standby-takes-over.js';
import { versionsBeside } from './versions.js';

/** In the order in which they run. */
export const rehearsals: readonly Rehearsal[] = [
  standbyTakesOver,
  ...badNetworks,
  poolsExhausted,
  namesGone,
  fullDisk,
  pointInTime,
  clockJumps,
  rollingRestart,
  versionsBeside,
  ...brokers,
  ...brokersOutOfReach,
];
