import { tmpdir } from 'node:os';
import { inSync, type KafkaCluster, openKafkaCluster } from '../support/kafka-cluster.js';
import { NameServer } from '../support/name-server.js';
import { TcpSwitch } from '../support/tcp-switch.js';
import { startDatabase } from './database.js';
import { resolvedBy } from './names.js';
import type { Rehearsal, Scene, Stage } from './rehearsal.js';
import type { Undo } from './undo.js';

/** Calls while a broker is unreachable, for longer than a connection waits for an answer. */
const CALLS = 160;
/** Calls while no name resolves. */
const CALLS_WITHOUT_NAMES = 80;

/** Three brokers that reach each other, and programs that do not reach them. */
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
      const known = [1, 2, 3].map(nameOf);
      const names = await undo.during(
        () => NameServer.open(known),
        (opened) => opened.close(),
      );
      const { cluster, ways, scene } = await brokersByWays(undo, nameOf);
      return {
        ...scene,
        under: resolvedBy(names, undo),
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

/** Programs know each broker by its host name and the port of a switch. */
async function brokersByWays(
  undo: Undo,
  hostOf: (id: number) => string,
): Promise<{ cluster: KafkaCluster; ways: TcpSwitch[]; scene: Omit<Scene, 'hurt'> }> {
  const ways: TcpSwitch[] = [];
  const addresses: string[] = [];
  const wayTo = async (id: number, port: number) => {
    const way = await undo.during(
      () => TcpSwitch.open({ host: '127.0.0.1', port }),
      (opened) => opened.close(),
    );
    ways.push(way);
    addresses.push(`${hostOf(id)}:${way.port}`);
    return addresses.at(-1)!;
  };
  const cluster = await undo.during(
    () => openKafkaCluster(wayTo),
    (started) => started.stop(),
  );
  const { env } = await startDatabase(undo, tmpdir());
  return {
    cluster,
    ways,
    scene: {
      env: { ...env, KAFKA_BROKERS: addresses.join(',') },
      reach: { brokers: [...cluster.brokers] },
    },
  };
}
