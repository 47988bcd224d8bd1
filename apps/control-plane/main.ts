import { runDistributed } from '#operations/distributed-program.js';
import { readControlPlaneProgram } from './control-plane.config.js';
import { startControlPlane } from './control-plane.program.js';

await runDistributed({
  name: 'control-plane',
  about: 'The control plane: serves the console address, and keeps the books behind the postings.',
  read: readControlPlaneProgram,
  start: ({ config, port, reportsUrl, chaos }, { pool, databaseUrl, transport, log, registry, host }) =>
    startControlPlane({
      pool,
      databaseUrl,
      reportsUrl,
      transport,
      config,
      log,
      registry,
      chaos,
      console: { host, port },
    }),
  stopLimitMs: () => 30_000,
});
