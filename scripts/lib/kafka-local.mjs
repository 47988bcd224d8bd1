// One Apache Kafka broker (KRaft) as a process on this machine: alone, or as part of a cluster.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { guard } from './children.mjs';
import { freePorts } from './free-ports.mjs';

const READY_LIMIT_MS = 300_000;
const STOP_LIMIT_MS = 20_000;

/** For a single broker. */
const HEAP = '384m';
/** Starts three at once in half the time, because nothing is compiled twice. */
const QUICK_START = '-XX:TieredStopAtLevel=1';

/**
 * A node that is broker and controller, on loopback, with settings that make a young cluster quick. With three nodes,
 * each has a copy of everything, and a write counts once two have it. A `way` is one more port, which clients know by
 * another address.
 */
function properties({ dataDir, id, nodes }) {
  const { port, controllerPort, way } = nodes.find((node) => node.id === id);
  const [listener, known] = way ? [`,WAY://127.0.0.1:${way.port}`, `,WAY://${way.address}`] : ['', ''];
  const voters = nodes.map((node) => `${node.id}@127.0.0.1:${node.controllerPort}`).join(',');
  const copies = nodes.length;
  const inSync = Math.max(1, copies - 1);
  return `process.roles=broker,controller
node.id=${id}
controller.quorum.voters=${voters}
listeners=PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}${listener}
advertised.listeners=PLAINTEXT://127.0.0.1:${port}${known}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,WAY:PLAINTEXT
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
log.dirs=${join(dataDir, 'log')}
auto.create.topics.enable=false
default.replication.factor=${copies}
min.insync.replicas=${inSync}
offsets.topic.replication.factor=${copies}
offsets.topic.num.partitions=8
transaction.state.log.replication.factor=${copies}
transaction.state.log.min.isr=${inSync}
transaction.state.log.num.partitions=4
share.coordinator.state.topic.replication.factor=${copies}
share.coordinator.state.topic.min.isr=${inSync}
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

/** @typedef {{ id: number, port: number, controllerPort: number, way?: { port: number, address: string } }} Node */

/** A broker. In a cluster, `cluster` says which node it is, and how large its heap may be. */
export class LocalBroker {
  #child;
  #lift = () => undefined;
  #stopping = false;
  #listeners = [];

  /**
   * @param {object} options
   * @param {string} [options.dataDir] a temporary folder if omitted
   * @param {{ java: string, jars: string }} options.kafka
   * @param {{ id: number, nodes: Node[], name: string, heap: string }} [options.cluster]
   */
  constructor({ dataDir, kafka, cluster }) {
    this.java = kafka.java;
    this.jars = kafka.jars;
    this.cluster = cluster;
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
    await this.#configure();
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
    const memory = [
      `-Xmx${this.cluster?.heap ?? HEAP}`,
      '-Xms128m',
      '-XX:+UseG1GC',
      '-XX:MaxGCPauseMillis=20',
    ];
    return [
      ...memory,
      ...(this.cluster ? [QUICK_START] : []),
      '-Djava.awt.headless=true',
      `-Dlog4j2.configurationFile=${join(this.dataDir, 'log4j2.properties')}`,
      '-cp',
      join(this.jars, '*'),
      main,
      ...args,
    ];
  }

  /** A killed predecessor may have left its broker running on this folder, which that broker's command line names. */
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

  async #configure() {
    const id = this.cluster?.id ?? 1;
    const nodes = this.cluster?.nodes ?? [{ id, ...(await this.#ownPorts()) }];
    this.brokers = [`127.0.0.1:${nodes.find((node) => node.id === id).port}`];
    writeFileSync(this.configFile, properties({ dataDir: this.dataDir, id, nodes }));
  }

  /** The same ports at every start with the same folder, because its clients and its metadata know them. */
  async #ownPorts() {
    if (!existsSync(this.portFile)) {
      const [port, controllerPort] = await freePorts(2);
      writeFileSync(this.portFile, JSON.stringify({ port, controllerPort }));
    }
    return JSON.parse(readFileSync(this.portFile, 'utf8'));
  }

  #format() {
    const name = this.cluster?.name ?? this.dataDir;
    const id = createHash('sha256').update(name).digest().subarray(0, 16);
    // An ID that began with a hyphen would be read as an option.
    id[0] &= 0x7f;
    const tool = ['format', '--cluster-id', id.toString('base64url'), '--config', this.configFile];
    const args = this.#arguments('kafka.tools.StorageTool', tool);
    const { status, stderr, stdout } = spawnSync(this.java, args, { encoding: 'utf8' });
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
        // Not yet. The deadline limits this.
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
