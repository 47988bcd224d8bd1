import { tmpdir } from 'node:os';
import { inSync, type KafkaCluster, openKafkaCluster } from '../support/kafka-cluster.js';
import { startDatabase } from '../support/outages/database.js';
import type { Rehearsal, Stage } from './rehearsal.js';

/** Calls while too few brokers are running. */
const CALLS = 80;

/** One of three brokers dies or goes silent. The other two have every confirmed message. */
export const brokers: readonly Rehearsal[] = [
  ofThree({
    name: 'controller',
    fault: 'the controller of three Kafka brokers killed',
    isQuick: true,
    hurt: async (cluster) => kill(cluster, cluster.controller()),
  }),
  ofThree({
    name: 'brokers',
    fault: 'each of three Kafka brokers killed in turn, started again between',
    isQuick: false,
    hurt: async (cluster, stage) => {
      const [first, ...others] = cluster.ids as [number, ...number[]];
      let killedAt = kill(cluster, first);
      let dead = first;
      for (const next of others) {
        await stage.load.served(killedAt, () => stage.relay.logs());
        await cluster.restart(dead);
        await inSync(cluster);
        killedAt = kill(cluster, next);
        dead = next;
      }
      return killedAt;
    },
  }),
  ofThree({
    name: 'two-brokers',
    fault: 'two of three Kafka brokers killed, both started again later',
    isQuick: false,
    hurt: async (cluster, { load }) => {
      const dead = cluster.ids.filter((id) => id !== cluster.controller()).slice(0, 1);
      dead.push(cluster.controller());
      for (const id of dead) kill(cluster, id);
      await load.failing(CALLS);
      const startedAt = performance.now();
      await Promise.all(dead.map((id) => cluster.restart(id)));
      return startedAt;
    },
  }),
  ofThree({
    name: 'silent-broker',
    fault: 'the controller of three Kafka brokers accepts connections and never answers',
    isQuick: false,
    hurt: async (cluster, { load, relay }) => {
      const silent = cluster.controller();
      cluster.signal(silent, 'SIGSTOP');
      const silentAt = performance.now();
      await load.served(silentAt, () => relay.logs());
      // It continues with the state it had then.
      cluster.signal(silent, 'SIGCONT');
      return silentAt;
    },
  }),
];

interface OfThree extends Omit<Rehearsal, 'prepare'> {
  hurt: (cluster: KafkaCluster, stage: Stage) => Promise<number>;
}

function ofThree({ hurt, ...rehearsal }: OfThree): Rehearsal {
  return {
    ...rehearsal,
    prepare: async (undo) => {
      const cluster = await undo.during(openKafkaCluster, (started) => started.stop());
      const { env } = await startDatabase(undo, tmpdir());
      return {
        env: { ...env, KAFKA_BROKERS: cluster.brokers.join(',') },
        hurt: async (stage) => {
          await inSync(cluster);
          return hurt(cluster, stage);
        },
      };
    },
  };
}

function kill(cluster: KafkaCluster, id: number): number {
  cluster.signal(id, 'SIGKILL');
  return performance.now();
}
