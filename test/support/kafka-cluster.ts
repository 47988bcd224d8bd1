import { Kafka, logLevel } from 'kafkajs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { quietenRequestQueue } from '#bus/kafka/kafkajs.patch.js';
import { until } from './eventually.js';

/** Three brokers with three copies of everything. A write needs two. */
export interface KafkaCluster {
  /** host:port of each. */
  readonly brokers: readonly string[];
  readonly ids: readonly number[];
  /** The broker that assigns the leaders. */
  controller(): number;
  signal(id: number, signal: NodeJS.Signals): void;
  /** Restarts a killed broker with its data. */
  restart(id: number): Promise<void>;
  stop(): Promise<void>;
}

const SCRIPT = pathToFileURL(join(import.meta.dirname, '../../scripts/lib/kafka-cluster.mjs')).href;

/** Opens a proxy to a broker's port, and returns the address that programs use. */
export type WayTo = (id: number, port: number) => Promise<string>;

/** With `wayTo`, programs reach brokers through proxies that can be cut, while brokers reach each other directly. */
export async function openKafkaCluster(wayTo?: WayTo): Promise<KafkaCluster> {
  const script = (await import(SCRIPT)) as { startKafkaCluster: (wayTo?: WayTo) => Promise<KafkaCluster> };
  return script.startKafkaCluster(wayTo);
}

/** Resolves when every broker has an up-to-date copy of every partition. */
export async function inSync({ brokers, ids }: KafkaCluster): Promise<void> {
  quietenRequestQueue();
  const admin = new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    const isWhole = async () => {
      const { topics } = await admin.fetchTopicMetadata();
      return topics.every(({ partitions }) => partitions.every(({ isr }) => isr.length === ids.length));
    };
    await until('every broker to have every message', () => isWhole().catch(() => false));
  } finally {
    await admin.disconnect();
  }
}
