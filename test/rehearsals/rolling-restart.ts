import { tmpdir } from 'node:os';
import { Balancer } from '../support/balancer.js';
import { UNTIL_DONE } from '../support/durations.js';
import { startDatabase } from '../support/outages/database.js';
import type { Rehearsal, Stage } from './rehearsal.js';

const GATEWAYS = 2;
/** Calls after each restart, so that the restarted gateway serves some of them before the next one stops. */
const CALLS = 10;

/** Like an upgrade: the balancer stops sending to a gateway, which finishes its calls and restarts. */
export const rollingRestart: Rehearsal = {
  name: 'restarts',
  fault: 'each of two gateways behind a load balancer restarted in turn',
  isQuick: true,
  prepare: async (undo) => {
    const { env } = await startDatabase(undo, tmpdir());
    let balancer: Balancer;
    return {
      // No call may fail.
      env: { ...UNTIL_DONE, ...env },
      gateways: GATEWAYS,
      front: async ({ ready }) => {
        balancer = await undo.during(
          () => Balancer.open(ready.baseUrls),
          (opened) => opened.close(),
        );
        return balancer.url;
      },
      hurt: (stage) => restartAll(stage, balancer),
    };
  },
};

async function restartAll({ relay, load }: Stage, balancer: Balancer): Promise<number> {
  const sinceMs = performance.now();
  for (const index of relay.ready.baseUrls.keys()) {
    await balancer.takeOut(index);
    await relay.replace('gateway', index, 'SIGTERM');
    await relay.untilReady();
    balancer.putIn(index);
    await load.ended(CALLS);
  }
  const failed = load.failedSince(sinceMs);
  if (failed > 0) throw new Error(`${failed} calls failed while gateways were restarted`);
  return sinceMs;
}
