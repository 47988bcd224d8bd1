import { runDistributed } from '#operations/distributed-program.js';
import { openStorage } from '#storage/storage.config.js';
import { readGatewayProgram } from './gateway.config.js';
import { startGateway } from './gateway.program.js';

/** Clients that call more often than this move to another gateway without an error. */
const DRAIN_MS = 2_000;
/** Time beyond the grace period for clients to leave and for requests to send what is left, then the process exits. */
const STOP_MARGIN_MS = 10_000;

await runDistributed({
  name: 'gateway',
  about: 'Gateway: the data plane at /v1, /v1beta and /vendora/v1.',
  read: readGatewayProgram,
  start: ({ config, storage, port, chaos }, { pool, transport, log, registry, host }) =>
    startGateway({
      pool,
      transport,
      storage: openStorage(storage, registry),
      config,
      log,
      registry,
      chaos,
      listen: { host, port },
      drainMs: DRAIN_MS,
    }),
  stopLimitMs: ({ config }) => config.shutdownGraceMs + STOP_MARGIN_MS,
});
