// A Kafka broker for tests and for `npm run distributed`: the one that is given, else Apache Kafka (KRaft, one node)
// resolved by Maven and run by Java, else the one of the compose file.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './clone.mjs';
import { LocalBroker } from './kafka-local.mjs';

/**
 * @typedef {object} KafkaBroker
 * @property {string[]} brokers host:port
 * @property {number | undefined} pid the broker's process, undefined when it is not ours to kill
 * @property {() => Promise<void>} stop in order; data in a temporary folder is removed
 * @property {() => Promise<void>} restart starts it again on the same data and port, after it ended
 * @property {(listener: () => void) => void} onExit called whenever its process ends without stop() being called
 */

/** There is no broker to be had here; the message says why. */
export class NoKafka extends Error {}

const OLDEST_JAVA = 17;
const MAVEN_LIMIT_MS = 300_000;

/** The listener of the compose file's broker for programs outside of compose. */
const COMPOSE_BROKER = '127.0.0.1:9094';

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

/** Makes sure that a broker which may be killed can be started here. @throws NoKafka */
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

function javaCommand() {
  const command = process.env.JAVA_HOME ? join(process.env.JAVA_HOME, 'bin', 'java') : 'java';
  const { stderr, error } = spawnSync(command, ['-version'], { encoding: 'utf8' });
  const major = Number(/version "(\d+)/.exec(stderr ?? '')?.[1]);
  if (error || !major) throw new NoKafka('there is no Java');
  if (major < OLDEST_JAVA) throw new NoKafka(`Java ${major} is too old, ${OLDEST_JAVA} is needed`);
  return command;
}

/** Copies Kafka's jars into a cache named after the pom and the version, once: that of the pom, or TOLLGATE_KAFKA_VERSION. */
export async function resolveKafka(say) {
  const java = javaCommand();
  const pom = join(root, 'scripts', 'kafka', 'pom.xml');
  const version = process.env.TOLLGATE_KAFKA_VERSION ?? '';
  const name = createHash('sha256').update(readFileSync(pom)).update(version).digest('hex').slice(0, 12);
  const folder = join(cacheFolder(), `kafka-${name}`);
  if (existsSync(folder)) return { java, jars: folder };
  if (!works('mvn', ['--version'])) throw new NoKafka('there is no Maven to fetch Apache Kafka');
  say('Fetching Apache Kafka with Maven …');
  const partial = mkdtempSync(`${folder}.`);
  const args = ['-q', '-B', '-f', pom, 'dependency:copy-dependencies', `-DoutputDirectory=${partial}`];
  if (version) args.push(`-Dkafka.version=${version}`);
  const maven = spawnSync('mvn', [...args, '-DincludeScope=runtime'], {
    encoding: 'utf8',
    timeout: MAVEN_LIMIT_MS,
  });
  if (maven.status !== 0) {
    rmSync(partial, { recursive: true, force: true });
    const why = maven.stdout?.split('\n').find((line) => line.includes('ERROR')) ?? maven.error?.message;
    throw new NoKafka(`Maven could not fetch Apache Kafka (${why ?? 'no reason given'})`);
  }
  keepOne(partial, folder);
  return { java, jars: folder };
}

/** Of two scripts that fetch at the same time, one keeps its copy. */
function keepOne(partial, folder) {
  try {
    renameSync(partial, folder);
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
}

function cacheFolder() {
  for (const folder of [join(root, '.cache'), join(homedir(), '.cache', 'tollgate')]) {
    try {
      mkdirSync(folder, { recursive: true });
      return folder;
    } catch {
      // Read-only; the next place may do.
    }
  }
  return tmpdir();
}

async function startComposeBroker(say) {
  if (!works('docker', ['info'])) throw new NoKafka('there is no Docker that runs');
  const compose = (...args) =>
    spawnSync('docker', ['compose', '-f', join(root, 'docker-compose.yml'), ...args], { encoding: 'utf8' });
  say('Starting the broker of docker-compose.yml …');
  const up = compose('up', '-d', '--wait', 'kafka');
  if (up.status !== 0) throw new NoKafka(`the compose file's broker did not start (${up.stderr.trim()})`);
  return {
    brokers: [COMPOSE_BROKER],
    pid: undefined,
    stop: async () => void compose('rm', '-s', '-f', '-v', 'kafka'),
    restart: async () => void compose('up', '-d', '--wait', 'kafka'),
    onExit: () => undefined,
  };
}
