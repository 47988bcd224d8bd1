import { Deployment } from '../support/deployment.js';
import { until } from '../support/eventually.js';
import type { Environment } from '../support/programs.js';
import type { Books } from '../support/books.js';
import { cutConnections, silence } from './database-faults.js';
import type { Strike } from './schedule.js';
import { POINT_LIMIT_MS, type Site } from './site.js';

const LIMIT_MS = 90_000;

/** The programs as separate processes over Kafka, with two gateways. */
export class KafkaSite implements Site {
  readonly kinds: readonly Strike['kind'][];

  private constructor(private readonly relay: Deployment) {
    const programs = ['gateway', 'billing', 'controlPlane', 'videoWorker'] as const;
    const owned = (['postgres', 'kafka'] as const).filter((what) => relay.pids()[what] !== null);
    const network = owned.includes('postgres') ? (['connections', 'silence'] as const) : [];
    this.kinds = [...programs, ...owned, ...network];
  }

  static async start(env: Environment): Promise<KafkaSite> {
    const relay = await Deployment.start({ env, each: 1, gateways: 2, ownBroker: true });
    await relay.untilReady();
    return new KafkaSite(relay);
  }

  get books(): Books {
    return this.relay.books;
  }

  get sandboxUrl(): string {
    return this.relay.ready.sandboxUrl;
  }

  url(): string {
    return this.relay.nextUrl();
  }

  async strike({ kind, point }: Strike): Promise<boolean> {
    if (point !== null) return this.diesAt(point);
    if (kind === 'postgres' || kind === 'kafka') await this.killServer(kind);
    else if (kind === 'connections') cutConnections(this.databasePid());
    else if (kind === 'silence') await silence(this.databasePid());
    else if (kind !== 'relay' && kind !== 'point') await this.relay.replace(kind, 0, 'SIGKILL');
    return true;
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

  stop(): Promise<void> {
    return this.relay.stop();
  }

  private databasePid(): number {
    const { postgres } = this.relay.pids();
    if (postgres === null) throw new Error('the database is down');
    return postgres;
  }

  private async killServer(what: 'postgres' | 'kafka'): Promise<void> {
    const pid = this.relay.pids()[what];
    if (pid === null) return;
    process.kill(pid, 'SIGKILL');
    const isNew = async () => ![pid, null].includes(this.relay.pids()[what]);
    await until(`another ${what}`, isNew, { limitMs: LIMIT_MS, state: () => this.logs() });
  }

  /** The first program that reaches the point. */
  private async diesAt(point: string): Promise<boolean> {
    this.relay.arm(point);
    const isReached = async () => !this.relay.isArmed();
    const reached = await until('the point', isReached, { limitMs: POINT_LIMIT_MS }).catch(() => false);
    if (!reached && this.relay.disarm()) return false;
    await this.relay.untilReady();
    return true;
  }
}
