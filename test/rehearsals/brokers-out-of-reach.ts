import { tmpdir } from 'node:os';
import { inSync } from '../support/kafka-cluster.js';
import { type SwitchedBrokers, startBrokers } from '../support/outages/brokers.js';
import { startDatabase } from '../support/outages/database.js';
import { startResolver } from '../support/outages/resolver.js';
import type { Undo } from '../support/outages/undo.js';
import type { Rehearsal, Scene, Stage } from './rehearsal.js';

/** Calls while a broker is unreachable. They last longer than a connection waits for an answer. */
const CALLS = 160;
/** Calls while names do not resolve. */
const CALLS_WITHOUT_NAMES = 80;

/** Three brokers that reach each other, but that programs cannot reach. */
export const brokersOutOfReach: readonly Rehearsal[] = [
  {
    name: 'partition',
    fault: 'each of three Kafka brokers in turn silent to the programs, but not to the other brokers',
    isQuick: false,
    prepare: async (undo) => {
      const { cluster, ways, scene } = await brokersByWays(undo, () => '127.0.0.1');
      return {
        ...scene,
        hurt: async ({ load, relay }) => {
          await inSync(cluster);
          const sinceMs = performance.now();
          let healedAt = sinceMs;
          for (const way of ways) {
            await load.served(healedAt, () => relay.logs());
            way.silence();
            await load.ended(CALLS);
            way.speak();
            healedAt = performance.now();
          }
          if (load.failedSince(sinceMs) === 0) throw new Error('no broker was missed');
          return healedAt;
        },
      };
    },
  },
  {
    name: 'broker-names',
    fault: 'the names of three Kafka brokers not resolved, and every connection to them cut (needs root)',
    isQuick: false,
    prepare: async (undo) => {
      const { names, under } = await startResolver(undo, [1, 2, 3].map(nameOf));
      const { cluster, ways, scene } = await brokersByWays(undo, nameOf);
      return {
        ...scene,
        under,
        hurt: async ({ load }: Stage) => {
          await inSync(cluster);
          names.silence();
          for (const way of ways) way.cut();
          await load.failing(CALLS_WITHOUT_NAMES);
          names.speak();
          return performance.now();
        },
      };
    },
  },
];

function nameOf(id: number): string {
  return `broker${id}.test`;
}

async function brokersByWays(
  undo: Undo,
  hostOf: (id: number) => string,
): Promise<SwitchedBrokers & { scene: Omit<Scene, 'hurt'> }> {
  const brokers = await startBrokers(undo, hostOf);
  const { env } = await startDatabase(undo, tmpdir());
  const scene = {
    env: { ...env, KAFKA_BROKERS: brokers.addresses.join(',') },
    reach: { brokers: [...brokers.cluster.brokers] },
  };
  return { ...brokers, scene };
}
