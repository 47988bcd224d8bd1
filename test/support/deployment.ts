import { type Admin, Kafka, logLevel } from 'kafkajs';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { quietenRequestQueue } from '#bus/kafka/kafkajs.patch.js';
import { groups, topics } from '#bus/topics.js';
import { newId } from '#platform/ids.js';
import { Books, counterAt } from './books.js';
import { until } from './eventually.js';
import { type Environment, type Finished, launch, type Launched, run } from './programs.js';

export type Kind = 'gateway' | 'billing' | 'controlPlane' | 'videoWorker';

interface Ready {
  baseUrls: string[];
  consoleUrl: string;
  brokers: string[];
  databaseUrl: string;
  healthUrls: Record<Kind, string[]>;
  sandboxUrl: string;
}

type Pids = Record<Kind, (number | null)[]> & Record<'kafka' | 'postgres', number | null>;

export interface DeploymentOptions {
  env: Environment;
  /** How many of each program. */
  each: number;
  /** How many gateways and billings, if different. */
  gateways?: number;
  billings?: number;
  /** The built clone of another version. It creates the schema, and all programs run it until `turnInto`. */
  version?: string;
  /** More variables for the first program of a kind, at its first start only. */
  differing?: Partial<Record<Kind, Environment>>;
  /** Whether to start a separate broker, which can be killed, instead of using the one in KAFKA_BROKERS. */
  ownBroker?: boolean;
  /** A command that runs the launcher and controls what it and the programs see of the machine. */
  under?: readonly string[];
  /** The real addresses of what the programs know under other names. */
  reach?: Partial<Pick<Ready, 'databaseUrl' | 'sandboxUrl' | 'brokers'>>;
}

/** The topics that move money. */
const moneyTopics = [topics.chargeRequested, topics.chargeResolved, topics.videoCompleted].map(
  ({ name }) => name,
);

/** The names of the programs in the launcher's files. */
const programNames: Record<Kind, string> = {
  gateway: 'gateway',
  billing: 'billing',
  controlPlane: 'control-plane',
  videoWorker: 'video-worker',
};

/** Maps each program that does not run from this clone to its folder. */
const VERSIONS = 'versions.json';

/** The programs of `npm run distributed`, and ways to disturb them. */
export class Deployment {
  private calls = 0;

  readonly books: Books;
  private readonly kafka: Kafka;

  private constructor(
    readonly ready: Ready,
    private readonly launched: Launched,
    private readonly place: { dataDir: string; namespace: string },
  ) {
    this.books = Books.open(ready.databaseUrl);
    quietenRequestQueue();
    this.kafka = new Kafka({ brokers: ready.brokers, logLevel: logLevel.NOTHING });
  }

  static async start(options: DeploymentOptions): Promise<Deployment> {
    const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-deployment-'));
    try {
      return await Deployment.startIn(dataDir, options);
    } catch (error) {
      rmSync(dataDir, { recursive: true, force: true });
      throw error;
    }
  }

  private static async startIn(dataDir: string, options: DeploymentOptions): Promise<Deployment> {
    const { env, ownBroker = false, under, reach, differing = {} } = options;
    const namespace = `d${newId()}.`;
    const given = ownBroker ? undefined : process.env['KAFKA_BROKERS'];
    const starts = Object.entries(differing).map(([kind, more]) => [`${programNames[kind as Kind]}-1`, more]);
    writeFileSync(join(dataDir, 'next-start.json'), JSON.stringify(Object.fromEntries(starts)));
    if (options.version !== undefined) {
      const all = everyName(options).map((name) => [name, options.version]);
      writeFileSync(join(dataDir, VERSIONS), JSON.stringify(Object.fromEntries(all)));
    }
    const variables = {
      LOG_LEVEL: 'warn',
      KAFKA_NAMESPACE: namespace,
      CRASH_FILE: join(dataDir, 'crash'),
      ...(given && { KAFKA_BROKERS: given }),
      ...env,
    };
    const args = [...countsOf(options), '--data', dataDir, '--json'];
    const launched = launch('scripts/distributed.mjs', args, variables, under);
    try {
      const ready = JSON.parse(await launched.line((line) => line.startsWith('{'))) as Ready;
      return new Deployment({ ...ready, ...reach }, launched, { dataDir, namespace });
    } catch (error) {
      await launched.end('SIGTERM');
      throw error;
    }
  }

  /** The gateways in turn. */
  readonly nextUrl = (): string => {
    this.calls += 1;
    return this.ready.baseUrls[this.calls % this.ready.baseUrls.length] ?? '';
  };

  /** Stops everything, and deletes its topics on a shared broker. */
  async stop(): Promise<void> {
    await this.books.close();
    await this.launched.end('SIGTERM');
    if (this.pids().kafka === null) await this.deleteTopics().catch(() => undefined);
    rmSync(this.place.dataDir, { recursive: true, force: true });
  }

  /** The launcher once more on the same folder. */
  startAgain(): Promise<Finished> {
    const brokers = { KAFKA_BROKERS: this.ready.brokers.join(',') };
    return run('scripts/distributed.mjs', ['--data', this.place.dataDir, '--json'], brokers);
  }

  pids(): Pids {
    return JSON.parse(readFileSync(join(this.place.dataDir, 'pids.json'), 'utf8')) as Pids;
  }

  pidOf(kind: Kind, index: number): number {
    const pid = this.pids()[kind][index];
    if (!pid) throw new Error(`${kind} ${index + 1} is down`);
    return pid;
  }

  /** The first program to reach the point kills itself. */
  arm(point: string): void {
    writeFileSync(this.crashFile, point);
  }

  isArmed(): boolean {
    return existsSync(this.crashFile);
  }

  /** @returns false if a program has reached the point meanwhile */
  disarm(): boolean {
    if (!this.isArmed()) return false;
    rmSync(this.crashFile, { force: true });
    return true;
  }

  /** Ends a program. The launcher starts another one in its place. */
  async replace(kind: Kind, index: number, signal: NodeJS.Signals, env: Environment = {}): Promise<void> {
    const file = join(this.place.dataDir, 'next-start.json');
    const orders = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as object) : {};
    const name = nameOf(kind, index);
    writeFileSync(file, JSON.stringify({ ...orders, [name]: env }));
    const pid = this.pidOf(kind, index);
    process.kill(pid, signal);
    await until(`another ${name}`, async () => ![pid, null].includes(this.pids()[kind][index] ?? null));
  }

  /** Restarts a program as the version of another built clone, by default as this version. */
  async turnInto(kind: Kind, index: number, version?: string): Promise<void> {
    const file = join(this.place.dataDir, VERSIONS);
    const versions = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as object) : {};
    writeFileSync(`${file}.new`, JSON.stringify({ ...versions, [nameOf(kind, index)]: version }));
    renameSync(`${file}.new`, file);
    await this.replace(kind, index, 'SIGTERM');
  }

  /** Pauses or resumes all programs of a kind. */
  signal(kind: Kind, signal: NodeJS.Signals): void {
    for (const pid of this.pids()[kind]) if (pid !== null) process.kill(pid, signal);
  }

  /** Waits until every program is running and ready. */
  async untilReady(): Promise<void> {
    for (const url of Object.values(this.ready.healthUrls).flat()) {
      let answer = '';
      await until(
        `${url} to be ready`,
        async () => {
          const response = await fetch(`${url}/health/ready`).catch(() => undefined);
          answer = (await response?.text()) ?? 'no answer';
          return response?.ok;
        },
        { state: () => `${answer}\n${this.logs()}` },
      );
    }
  }

  /** Waits until billing has read every message, every charge and task has ended, and every outbox message is sent. */
  async atRest(): Promise<void> {
    const state = () => this.logs();
    await until('every message to be read', () => this.isConsumed(), { state });
    await this.books.atRest().catch((error: Error) => {
      throw new Error(`${error.message}\n${this.logs()}`);
    });
    // Messages sent meanwhile may have been read before the last charge ended.
    await until('every message to be read', () => this.isConsumed(), { state });
  }

  /** The number of charges that only the repair resolved, since the current programs started. */
  async repairs(): Promise<number> {
    const counts = this.ready.healthUrls.billing.map((url) =>
      counterAt(Number(new URL(url).port), 'tollgate_repairs_total'),
    );
    return sum(await Promise.all(counts));
  }

  /** The number of messages in the topics that move money. */
  async messageCount(): Promise<number> {
    const counts = await this.ofEachMoneyTopic(async (admin, topic) => {
      const ends = await admin.fetchTopicOffsets(topic);
      return ends.map(({ high, low }) => Number(high) - Number(low));
    });
    return sum(counts);
  }

  async isConsumed(): Promise<boolean> {
    return (await this.unreadCount().catch(() => NaN)) === 0;
  }

  async unreadCount(): Promise<number> {
    const groupId = this.full(groups.billing);
    const counts = await this.ofEachMoneyTopic(async (admin, topic) => {
      const [read] = await admin.fetchOffsets({ groupId, topics: [topic] });
      const ends = await admin.fetchTopicOffsets(topic);
      return ends.map(({ partition, high, low }) => {
        const committed = read?.partitions.find((each) => each.partition === partition)?.offset ?? '-1';
        return Number(high) - Math.max(Number(low), Number(committed));
      });
    });
    return sum(counts);
  }

  /** One after the other: asked concurrently, kafkajs may take an existing topic for one without partitions. */
  private ofEachMoneyTopic(count: (admin: Admin, topic: string) => Promise<number[]>): Promise<number[]> {
    return this.withAdmin(async (admin) => {
      const counts: number[] = [];
      for (const name of moneyTopics) counts.push(...(await count(admin, this.full(name))));
      return counts;
    });
  }

  /** Waits until billing's group has no members, then rewinds it to the first message of every topic that moves money. */
  async rewindBilling(): Promise<void> {
    const groupId = this.full(groups.billing);
    await this.withAdmin(async (admin) => {
      const isEmpty = async () => (await admin.describeGroups([groupId])).groups[0]?.state === 'Empty';
      await until('billing to lose its membership', isEmpty);
      for (const name of moneyTopics) {
        await admin.resetOffsets({ groupId, topic: this.full(name), earliest: true });
      }
    });
  }

  /** Every message in a topic. */
  async messagesOf<T>(topic: string): Promise<T[]> {
    const name = this.full(topic);
    const ends = await this.withAdmin((admin) => admin.fetchTopicOffsets(name));
    const expected = ends.reduce((sum, { high, low }) => sum + Number(high) - Number(low), 0);
    const consumer = this.kafka.consumer({ groupId: `${this.place.namespace}reader-of-${topic}` });
    const messages: T[] = [];
    try {
      await consumer.connect();
      await consumer.subscribe({ topics: [name], fromBeginning: true });
      await consumer.run({
        eachMessage: async ({ message }) =>
          void messages.push(JSON.parse(message.value?.toString() ?? 'null') as T),
      });
      await until(`${expected} messages of ${topic}`, async () => messages.length >= expected);
    } finally {
      await consumer.disconnect();
    }
    return messages;
  }

  /** The end of the programs' logs. */
  logs(): string {
    const names = Object.entries(this.pids()).flatMap(([kind, pids]) =>
      Array.isArray(pids) ? pids.map((_, index) => `${programNames[kind as Kind]}-${index + 1}`) : [],
    );
    return names
      .map((name) => join(this.place.dataDir, 'logs', `${name}.log`))
      .filter((file) => existsSync(file))
      .map((file) => `${file}\n${readFileSync(file, 'utf8').slice(-1_500)}`)
      .join('\n');
  }

  /** The key that seals secrets in the database. */
  get secretsKeyFile(): string {
    return join(this.place.dataDir, 'secrets.key');
  }

  private get crashFile(): string {
    return join(this.place.dataDir, 'crash');
  }

  private readonly full = (name: string): string => this.place.namespace + name;

  private async deleteTopics(): Promise<void> {
    await this.withAdmin(async (admin) => {
      const ours = (await admin.listTopics()).filter((name) => name.startsWith(this.place.namespace));
      await admin.deleteTopics({ topics: ours });
    });
  }

  private async withAdmin<T>(work: (admin: Admin) => Promise<T>): Promise<T> {
    const admin = this.kafka.admin();
    await admin.connect();
    try {
      return await work(admin);
    } finally {
      await admin.disconnect();
    }
  }
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

/** The name of one program in the launcher's files. */
function nameOf(kind: Kind, index: number): string {
  return `${programNames[kind]}-${index + 1}`;
}

function countsOf({ each, gateways = each, billings = each }: DeploymentOptions): string[] {
  return ['--gateways', String(gateways), '--billings', String(billings), '--workers', String(each)];
}

/** All programs, and the migration that runs before them. */
function everyName({ each, gateways = each, billings = each }: DeploymentOptions): string[] {
  const counts: Record<Kind, number> = {
    gateway: gateways,
    billing: billings,
    controlPlane: 1,
    videoWorker: each,
  };
  const names = Object.entries(counts).map(([kind, count]) =>
    Array.from({ length: count }, (_, index) => nameOf(kind as Kind, index)),
  );
  return ['migrate', ...names.flat()];
}
