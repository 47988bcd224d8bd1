import { Kafka, logLevel } from 'kafkajs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { quietenRequestQueue } from '#bus/kafka/kafkajs.patch.js';
import { until } from './eventually.js';

/** Three brokers that hold three copies of everything, of which two have to be there. */
export interface KafkaCluster {
  /** host:port of each. */
  readonly brokers: readonly string[];
  readonly ids: readonly number[];
  /** The broker that decides who leads what. */
  controller(): number;
  signal(id: number, signal: NodeJS.Signals): void;
  /** Starts one that was killed, on what it kept. */
  restart(id: number): Promise<void>;
  stop(): Promise<void>;
}

const SCRIPT = pathToFileURL(join(import.meta.dirname, '../../scripts/lib/kafka-cluster.mjs')).href;

/** Opens a way to the port of a broker, and returns the address by which programs know it. */
export type WayTo = (id: number, port: number) => Promise<string>;

/** With `wayTo`, programs reach brokers by ways that can be taken away, and brokers each other without. */
export async function openKafkaCluster(wayTo?: WayTo): Promise<KafkaCluster> {
  const script = (await import(SCRIPT)) as { startKafkaCluster: (wayTo?: WayTo) => Promise<KafkaCluster> };
  return script.startKafkaCluster(wayTo);
}

/** Resolves when every broker has a copy of every partition that is up to date. */
export async function inSync({ brokers, ids }: KafkaCluster): Promise<void> {
  quietenRequestQueue();
  const admin = new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    const isWhole = async () => {
      const { topics } = await admin.fetchTopicMetadata();
      return topics.every(({ partitions }) => partitions.every(({ isr }) => isr.length === ids.length));
    };
    await until('every broker to have every message', isWhole);
  } finally {
    await admin.disconnect();
  }
}
