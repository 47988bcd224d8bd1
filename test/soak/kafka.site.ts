import { setTimeout as pause } from 'node:timers/promises';
import type { Books } from '../support/books.js';
import { Deployment } from '../support/deployment.js';
import { until } from '../support/eventually.js';
import { startBrokers, type SwitchedBrokers } from '../support/outages/brokers.js';
import { startDatabase, type SwitchedDatabase } from '../support/outages/database.js';
import { named } from '../support/outages/resolver.js';
import type { Undo } from '../support/outages/undo.js';
import type { Environment } from '../support/programs.js';
import type { Kind, Strike } from './schedule.js';
import { POINT_LIMIT_MS, type Site } from './site.js';
import { type Fault, lasting, networkFaults, Surroundings } from './surroundings.js';

const DATABASE = 'database.test';
const BROKERS = [1, 2, 3].map(nameOfBroker);
const PROGRAMS = ['gateway', 'billing', 'controlPlane', 'videoWorker'] as const;
/** Otherwise, an hour's log would need gigabytes, on a disk that is in memory. */
const SETTINGS = { max_wal_size: '256MB', min_wal_size: '80MB' };

function nameOfBroker(id: number): string {
  return `broker${id}.test`;
}

interface Place {
  surroundings: Surroundings;
  database: SwitchedDatabase;
  brokers: SwitchedBrokers;
}

/** The programs as separate processes over three brokers, with two gateways. */
export class KafkaSite implements Site {
  readonly missing: ReadonlyMap<Kind, string>;
  private readonly faults: Partial<Record<Kind, Fault>>;

  private constructor(
    private readonly relay: Deployment,
    private readonly place: Place,
  ) {
    this.missing = place.surroundings.missing;
    this.faults = this.everyFault();
  }

  static async start(env: Environment, undo: Undo): Promise<KafkaSite> {
    const surroundings = await Surroundings.open(undo, [DATABASE, ...BROKERS]);
    const database = await startDatabase(undo, surroundings.folder, SETTINGS);
    const brokers = await startBrokers(undo, (id) => surroundings.hostOf(nameOfBroker(id)));
    const { DATABASE_URL = '', ADMIN_DATABASE_URL = '' } = database.env;
    const host = surroundings.hostOf(DATABASE);
    const variables = {
      ...env,
      ...surroundings.env,
      DATABASE_URL: named(DATABASE_URL, host),
      ADMIN_DATABASE_URL: named(ADMIN_DATABASE_URL, host),
      KAFKA_BROKERS: brokers.addresses.join(','),
    };
    const reach = { databaseUrl: database.server.ownerUrl, brokers: [...brokers.cluster.brokers] };
    const { under } = surroundings;
    const relay = await undo.during(
      () => Deployment.start({ env: variables, each: 1, gateways: 2, under, reach }),
      (started) => started.stop(),
    );
    await relay.untilReady();
    return new KafkaSite(relay, { surroundings, database, brokers });
  }

  get books(): Books {
    return this.relay.books;
  }

  get sandboxUrl(): string {
    return this.place.surroundings.sandboxUrl;
  }

  get kinds(): readonly Kind[] {
    return Object.keys(this.faults) as Kind[];
  }

  url(): string {
    return this.relay.nextUrl();
  }

  async strike(strike: Strike): Promise<number | null> {
    return strike.point === null ? this.faults[strike.kind]!(strike) : this.diesAt(strike.point);
  }

  async atRest(): Promise<void> {
    await this.relay.untilReady();
    await this.relay.atRest();
  }

  repairs(): Promise<number> {
    return this.relay.repairs();
  }

  logs(): string {
    return this.relay.logs();
  }

  private everyFault(): Partial<Record<Kind, Fault>> {
    const { database, brokers, surroundings } = this.place;
    const { server, way } = database;
    const healthUrls = Object.values(this.relay.ready.healthUrls).flat();
    const kills = PROGRAMS.map((kind) => [kind, () => this.kill(kind)] as const);
    return {
      ...Object.fromEntries(kills),
      postgres: () => this.killDatabase(),
      ...networkFaults('postgres', way),
      ...brokerFaults(brokers),
      ...surroundings.faults({ server, ways: [way, ...brokers.ways], healthUrls }),
    };
  }

  private async kill(kind: (typeof PROGRAMS)[number]): Promise<number> {
    const killedAt = performance.now();
    await this.relay.replace(kind, 0, 'SIGKILL');
    return killedAt;
  }

  private async killDatabase(): Promise<number> {
    const { server } = this.place.database;
    const { pid } = server;
    process.kill(pid, 'SIGKILL');
    const killedAt = performance.now();
    await until('another database server', async () => server.pid !== pid);
    return killedAt;
  }

  /** The ID of the first program that reaches the point, once it has killed itself. */
  private async diesAt(point: string): Promise<number | null> {
    this.relay.arm(point);
    const isReached = async () => !this.relay.isArmed();
    const reached = await until('the point', isReached, { limitMs: POINT_LIMIT_MS }).catch(() => false);
    if (!reached && this.relay.disarm()) return null;
    const diedAt = performance.now();
    await this.relay.untilReady();
    return diedAt;
  }
}

function brokerFaults({ cluster, ways }: SwitchedBrokers): Partial<Record<Kind, Fault>> {
  const indexOf = ({ draw }: Strike) => Math.floor(draw * cluster.ids.length);
  const idOf = (strike: Strike) => cluster.ids[indexOf(strike)]!;
  const wayOf = (strike: Strike) => ways[indexOf(strike)]!;
  return {
    broker: async (strike) => {
      cluster.signal(idOf(strike), 'SIGKILL');
      const killedAt = performance.now();
      await pause(strike.seconds * 1_000);
      await cluster.restart(idOf(strike));
      return killedAt;
    },
    'broker-paused': lasting(
      async (strike) => cluster.signal(idOf(strike), 'SIGSTOP'),
      async (strike) => cluster.signal(idOf(strike), 'SIGCONT'),
    ),
    'broker-silent': lasting(
      async (strike) => wayOf(strike).silence(),
      async (strike) => wayOf(strike).speak(),
    ),
  };
}
