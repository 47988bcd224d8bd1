// A Kafka broker for tests and for `npm run distributed`: a given one, or else Apache Kafka (KRaft, one node) resolved
// by Maven and run by Java, or else the compose file's.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from './clone.mjs';
import { LocalBroker } from './kafka-local.mjs';
import { fetchJars } from './maven.mjs';

/**
 * @typedef {object} KafkaBroker
 * @property {string[]} brokers host:port
 * @property {number | undefined} pid the broker's process, undefined if it is not ours to kill
 * @property {() => Promise<void>} stop stops it in order, and removes data in a temporary folder
 * @property {() => Promise<void>} restart restarts it with the same data and port, after it has ended
 * @property {(listener: () => void) => void} onExit is called whenever its process ends without stop()
 */

/** No broker can be had here; the message says why. */
export class NoKafka extends Error {}

/** The port of the compose file's broker for programs outside of compose, inside of its container. */
const OUTSIDE_PORT = '9094';

/**
 * @param {{ dataDir?: string, say?: (text: string) => void, env?: NodeJS.ProcessEnv }} options without a dataDir the
 *   data goes when the broker stops
 * @returns {Promise<KafkaBroker>}
 * @throws NoKafka
 */
export async function startKafka({ dataDir, say = () => undefined, env = process.env } = {}) {
  const given = (env.KAFKA_BROKERS ?? '').split(',').filter((broker) => broker.trim() !== '');
  if (given.length > 0) return strangersBroker(given);
  const reasons = [];
  for (const start of [
    async () => new LocalBroker({ dataDir, kafka: await resolveKafka(say) }).start(),
    () => startComposeBroker(say),
  ]) {
    try {
      return await start();
    } catch (error) {
      if (!(error instanceof NoKafka)) throw error;
      reasons.push(error.message);
    }
  }
  throw new NoKafka(`no Kafka broker: KAFKA_BROKERS is not set; ${reasons.join('; ')}`);
}

/** Makes sure that a broker that may be killed can be started here. @throws NoKafka */
export async function requireLocalKafka(say = () => undefined) {
  await resolveKafka(say);
}

function strangersBroker(brokers) {
  const notOurs = () =>
    Promise.reject(new Error('The broker of KAFKA_BROKERS is not restarted by this script.'));
  return { brokers, pid: undefined, stop: async () => undefined, restart: notOurs, onExit: () => undefined };
}

function works(command, args) {
  return spawnSync(command, args, { stdio: 'ignore', timeout: 30_000 }).status === 0;
}

/** Apache Kafka from the pom, or of the version TOLLGATE_KAFKA_VERSION. @throws NoKafka */
export async function resolveKafka(say) {
  const version = process.env.TOLLGATE_KAFKA_VERSION;
  const properties = version ? { 'kafka.version': version } : {};
  const { why, ...kafka } = fetchJars({ name: 'kafka', about: 'Apache Kafka', properties, say });
  if (why !== undefined) throw new NoKafka(why);
  return kafka;
}

async function startComposeBroker(say) {
  if (!works('docker', ['info'])) throw new NoKafka('there is no Docker that runs');
  const compose = (...args) =>
    spawnSync('docker', ['compose', '-f', join(root, 'docker-compose.yml'), ...args], { encoding: 'utf8' });
  // Somebody's deployment on this machine may be running on it.
  const isOurs = compose('ps', '--quiet', 'kafka').stdout.trim() === '';
  say('Starting the broker of docker-compose.yml …');
  const up = compose('up', '-d', '--wait', 'kafka');
  if (up.status !== 0) throw new NoKafka(`the compose file's broker did not start (${up.stderr.trim()})`);
  return {
    brokers: [compose('port', 'kafka', OUTSIDE_PORT).stdout.trim()],
    pid: undefined,
    stop: async () => void (isOurs && compose('rm', '-s', '-f', '-v', 'kafka')),
    restart: async () => void compose('up', '-d', '--wait', 'kafka'),
    onExit: () => undefined,
  };
}
