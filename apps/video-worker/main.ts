import { runDistributed } from '#operations/distributed-program.js';
import { openStorage } from '#storage/storage.config.js';
import { readVideoWorkerProgram } from './video-worker.config.js';
import { startVideoWorker } from './video-worker.program.js';

await runDistributed({
  name: 'video-worker',
  about: 'The video worker: follows videos upstream, stores their files, announces their ends.',
  read: readVideoWorkerProgram,
  start: ({ config, storage }, { pool, transport, log, registry }) =>
    startVideoWorker({ pool, transport, storage: openStorage(storage, registry), config, log, registry }),
  // The leases of interrupted tasks expire, and another worker continues.
  stopLimitMs: () => 30_000,
});
