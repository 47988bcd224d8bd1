// A Kafka broker for tests and for `npm run distributed`: the one that is given, else Apache Kafka (KRaft, one node)
// resolved by Maven and run by Java, else the one of the compose file.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  closeSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { root } from './clone.mjs';
import { guard } from './children.mjs';

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
const READY_LIMIT_MS = 90_000;
const STOP_LIMIT_MS = 20_000;

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
    async () => new LocalBroker(dataDir, await resolveKafka(say)).start(),
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

/** Copies Kafka's jars into a cache named after the pom, once. */
export async function resolveKafka(say) {
  const java = javaCommand();
  const pom = join(root, 'scripts', 'kafka', 'pom.xml');
  const name = createHash('sha256').update(readFileSync(pom)).digest('hex').slice(0, 12);
  const folder = join(cacheFolder(), `kafka-${name}`);
  if (existsSync(folder)) return { java, jars: folder };
  if (!works('mvn', ['--version'])) throw new NoKafka('there is no Maven to fetch Apache Kafka');
  say('Fetching Apache Kafka with Maven …');
  const partial = mkdtempSync(`${folder}.`);
  const args = ['-q', '-B', '-f', pom, 'dependency:copy-dependencies', `-DoutputDirectory=${partial}`];
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

async function freePorts(count) {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer().listen(0, '127.0.0.1');
      await once(server, 'listening');
      return server;
    }),
  );
  const ports = servers.map((server) => server.address().port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

/** One node that is broker and controller, on loopback, with settings that make a young cluster quick. */
function properties({ dataDir, port, controllerPort }) {
  return `process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:${controllerPort}
listeners=PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}
advertised.listeners=PLAINTEXT://127.0.0.1:${port}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
log.dirs=${join(dataDir, 'log')}
auto.create.topics.enable=false
offsets.topic.replication.factor=1
offsets.topic.num.partitions=8
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=4
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
controlled.shutdown.enable=false
broker.session.timeout.ms=3000
broker.heartbeat.interval.ms=500
controller.quorum.election.timeout.ms=500
controller.quorum.election.backoff.max.ms=200
log.cleaner.dedupe.buffer.size=8388608
`;
}

const LOGGING = `status=error
appender.out.type=Console
appender.out.name=OUT
appender.out.layout.type=PatternLayout
appender.out.layout.pattern=%d %p %c{1} %m%n
rootLogger.level=warn
rootLogger.appenderRef.out.ref=OUT
`;

class LocalBroker {
  #child;
  #lift = () => undefined;
  #stopping = false;
  #listeners = [];

  constructor(dataDir, { java, jars }) {
    this.java = java;
    this.jars = jars;
    this.temporary = dataDir === undefined;
    this.dataDir = dataDir ?? mkdtempSync(join(tmpdir(), 'tollgate-kafka-'));
    this.configFile = join(this.dataDir, 'server.properties');
    this.portFile = join(this.dataDir, 'ports.json');
    this.pidFile = join(this.dataDir, 'kafka.pid');
  }

  get pid() {
    return this.#child?.pid;
  }

  onExit(listener) {
    this.#listeners.push(listener);
  }

  async start() {
    mkdirSync(this.dataDir, { recursive: true });
    await this.#endLeftover();
    await this.#choosePorts();
    writeFileSync(join(this.dataDir, 'log4j2.properties'), LOGGING);
    if (!existsSync(join(this.dataDir, 'log', 'meta.properties'))) this.#format();
    try {
      await this.restart();
    } catch (error) {
      await this.stop();
      throw error;
    }
    return this;
  }

  async restart() {
    if (this.#child?.exitCode === null && this.#child.signalCode === null) return;
    const log = openSync(join(this.dataDir, 'kafka.log'), 'a');
    const child = spawn(this.java, this.#arguments('kafka.Kafka', [this.configFile]), {
      stdio: ['ignore', log, log],
      detached: true,
    });
    closeSync(log);
    this.#child = child;
    await once(child, 'spawn');
    writeFileSync(this.pidFile, String(child.pid));
    const lift = (this.#lift = guard(child.pid));
    child.once('exit', () => {
      lift();
      if (!this.#stopping) this.#listeners.forEach((listener) => listener());
    });
    await this.#untilReady(child);
  }

  async stop() {
    this.#stopping = true;
    const child = this.#child;
    if (child?.exitCode === null && child.signalCode === null) {
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      const impatience = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
      await gone;
      clearTimeout(impatience);
    }
    this.#lift();
    rmSync(this.pidFile, { force: true });
    if (this.temporary) rmSync(this.dataDir, { recursive: true, force: true });
  }

  #arguments(main, args) {
    return [
      ...['-Xmx384m', '-Xms128m', '-XX:+UseG1GC', '-XX:MaxGCPauseMillis=20', '-Djava.awt.headless=true'],
      `-Dlog4j2.configurationFile=${join(this.dataDir, 'log4j2.properties')}`,
      ...['-cp', join(this.jars, '*'), main, ...args],
    ];
  }

  /** A predecessor that was killed may have left its broker on this folder; its command line names the folder. */
  async #endLeftover() {
    const pid = existsSync(this.pidFile) ? Number(readFileSync(this.pidFile, 'utf8')) : 0;
    const isOurs = () =>
      pid > 1 &&
      spawnSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' }).stdout?.includes(
        this.configFile,
      );
    if (!isOurs()) return;
    process.kill(pid, 'SIGKILL');
    while (isOurs()) await pause(50);
  }

  /** The same ports at every start on the same folder: its clients and its metadata know them. */
  async #choosePorts() {
    if (!existsSync(this.portFile)) {
      const [port, controllerPort] = await freePorts(2);
      writeFileSync(this.portFile, JSON.stringify({ port, controllerPort }));
    }
    const ports = JSON.parse(readFileSync(this.portFile, 'utf8'));
    this.brokers = [`127.0.0.1:${ports.port}`];
    writeFileSync(this.configFile, properties({ dataDir: this.dataDir, ...ports }));
  }

  #format() {
    const id = createHash('sha256').update(this.dataDir).digest().subarray(0, 16);
    // An id that began with a hyphen would be taken for an option.
    id[0] &= 0x7f;
    const cluster = id.toString('base64url');
    const tool = ['format', '--cluster-id', cluster, '--config', this.configFile];
    const { status, stderr, stdout } = spawnSync(
      this.java,
      this.#arguments('kafka.tools.StorageTool', tool),
      {
        encoding: 'utf8',
      },
    );
    if (status !== 0)
      throw new Error(`Kafka's storage could not be made in ${this.dataDir}: ${stderr || stdout}`);
  }

  async #untilReady(child) {
    const { Kafka, logLevel } = await import('kafkajs');
    const { quietenRequestQueue } = await import('../../dist/libs/bus/kafka/kafkajs.patch.js');
    quietenRequestQueue();
    const deadline = Date.now() + READY_LIMIT_MS;
    while (Date.now() < deadline) {
      if (child.exitCode !== null || child.signalCode !== null) {
        throw new Error(`Kafka stopped at its start: ${this.#lastWords()}`);
      }
      const admin = new Kafka({
        brokers: this.brokers,
        logLevel: logLevel.NOTHING,
        connectionTimeout: 1_000,
        retry: { retries: 0 },
      }).admin();
      try {
        await admin.connect();
        if ((await admin.describeCluster()).brokers.length > 0) return;
      } catch {
        // Not yet; the deadline bounds it.
      } finally {
        await admin.disconnect();
      }
      await pause(100);
    }
    throw new Error(`Kafka did not become ready in ${READY_LIMIT_MS / 1000} s: ${this.#lastWords()}`);
  }

  #lastWords() {
    const log = join(this.dataDir, 'kafka.log');
    return existsSync(log)
      ? readFileSync(log, 'utf8').trim().split('\n').slice(-5).join(' | ')
      : 'it said nothing';
  }
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
