import { runDistributed } from '#operations/distributed-program.js';
import { readBillingProgram } from './billing.config.js';
import { startBilling } from './billing.program.js';

await runDistributed({
  name: 'billing',
  about: 'Billing: answers charges on the bus, and sweeps what nobody ended.',
  read: readBillingProgram,
  start: ({ config, chaos }, { pool, transport, log, registry }) =>
    startBilling({ pool, transport, config, log, registry, chaos }),
  stopLimitMs: () => 30_000,
});
