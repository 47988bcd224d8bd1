import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Balancer } from '../support/balancer.js';
import { type Account, Books } from '../support/books.js';
import type { Deployment, Kind } from '../support/deployment.js';
import { UNTIL_DONE } from '../support/durations.js';
import { until } from '../support/eventually.js';
import { run } from '../support/programs.js';
import { type SwitchedDatabase, startDatabase } from '../support/outages/database.js';
import { CREDITS, type Rehearsal, type Scene, type Stage } from './rehearsal.js';
import type { Undo } from '../support/outages/undo.js';
import { checkOutVersionBefore } from './version-before.js';

/** Two of each program that calls wait for: one serves while the other is replaced. */
const COUNTS: Record<Kind, number> = { gateway: 2, billing: 2, videoWorker: 1, controlPlane: 1 };
/** Calls after each step, while all programs have one version. */
const CALLS = 16;
/** Longer than a worker is away, so that the next worker ends its tasks. */
const VIDEO_SECONDS = 3;
const MIGRATE = 'dist/apps/control-plane/migrate.js';

/** On a slow machine, calls wait for the program that takes over, and must not time out. */
const DURATIONS = {
  ...UNTIL_DONE,
  CHARGE_GRACE_SECONDS: '5',
  STUCK_AFTER_SECONDS: '60',
  LEASE_SECONDS: '5',
  TASK_DEADLINE_SECONDS: '120',
};

interface Turn {
  to: 'this version' | 'the version before';
  /** In the order of their replacement. */
  kinds: readonly Kind[];
}

/** Gateways first: new ones meet old billings, and old ones new billings. */
const GATEWAYS_FIRST: readonly Kind[] = ['gateway', 'billing', 'videoWorker', 'controlPlane'];
const THERE_AND_BACK: readonly Turn[] = [
  { to: 'this version', kinds: GATEWAYS_FIRST },
  { to: 'the version before', kinds: GATEWAYS_FIRST },
];

/** An upgrade from the version before and its rollback, without a failed call. */
export const upgradeAndRollback: Rehearsal = {
  name: 'rollback',
  fault: 'migrated under the version before, its programs replaced one by one, then back',
  isQuick: true,
  prepare: (undo) => prepare(undo, THERE_AND_BACK),
};

/** Upgrades again. */
export const versionsBeside: Rehearsal = {
  name: 'versions',
  fault: `${upgradeAndRollback.fault}, then forward again`,
  isQuick: false,
  prepare: (undo) => {
    const again: Turn = { to: 'this version', kinds: GATEWAYS_FIRST.toReversed() };
    return prepare(undo, [...THERE_AND_BACK, again]);
  },
};

async function prepare(undo: Undo, turns: readonly Turn[]): Promise<Scene> {
  const { commit, root } = await checkOutVersionBefore();
  const database = await startDatabase(undo, tmpdir());
  let balancer: Balancer;
  return {
    env: { ...DURATIONS, ...database.env },
    gateways: COUNTS.gateway,
    billings: COUNTS.billing,
    version: root,
    account: (relay) => accountBy(root, relay),
    videoSeconds: VIDEO_SECONDS,
    front: async ({ ready }) => {
      balancer = await undo.during(
        () => Balancer.open(ready.baseUrls),
        (opened) => opened.close(),
      );
      return balancer.url;
    },
    hurt: async (stage) => {
      stage.say(`the version before is ${commit}`);
      return new Upgrade(stage, balancer, root).rehearse(database, turns);
    },
  };
}

/** Our own code may not know the earlier schema. */
async function accountBy(root: string, relay: Deployment): Promise<Account> {
  const file = pathToFileURL(join(root, 'dist/test/support/books.js'));
  const before = (await import(file.href)) as { Books: typeof Books };
  const books = before.Books.open(relay.ready.databaseUrl);
  try {
    return await books.account(CREDITS);
  } finally {
    await books.close();
  }
}

class Upgrade {
  /** Tasks whose worker was replaced by one of the other version. */
  private readonly handedOver: string[] = [];

  constructor(
    private readonly stage: Stage,
    private readonly balancer: Balancer,
    private readonly before: string,
  ) {}

  /** @returns the start of recovery. @throws Error if a call failed, or a video that changed workers */
  async rehearse({ env }: SwitchedDatabase, turns: readonly Turn[]): Promise<number> {
    const { relay } = this.stage;
    const sinceMs = performance.now();
    await this.step('migrating', () => migrate(env, relay.secretsKeyFile));
    for (const turn of turns)
      await this.step(`replacing programs by those of ${turn.to}`, () => this.turn(turn));
    await this.ended();
    return sinceMs;
  }

  /** @throws Error if a call failed meanwhile */
  private async step(what: string, work: () => Promise<void>): Promise<void> {
    const { load, relay, say } = this.stage;
    const sinceMs = performance.now();
    say(what);
    await work();
    await load.ended(CALLS);
    const failed = load.failedSince(sinceMs);
    if (failed > 0) throw new Error(`${failed} calls failed while ${what}\n${relay.logs()}`);
  }

  private async turn({ to, kinds }: Turn): Promise<void> {
    const version = to === 'this version' ? undefined : this.before;
    for (const kind of kinds) {
      for (let index = 0; index < COUNTS[kind]; index += 1) await this.turnOne(kind, index, version);
    }
  }

  private async turnOne(kind: Kind, index: number, version?: string): Promise<void> {
    const { relay } = this.stage;
    if (kind === 'gateway') await this.balancer.takeOut(index);
    await relay.turnInto(kind, index, version);
    if (kind === 'videoWorker') await this.noteHandedOver();
    await relay.untilReady();
    if (kind === 'gateway') this.balancer.putIn(index);
  }

  /** To be called while no worker runs. */
  private async noteHandedOver(): Promise<void> {
    const { rows } = await this.stage.relay.books.pool.query<{ id: string }>(UNDER_WAY);
    if (rows.length === 0) throw new Error('no video was being made when the worker was replaced');
    this.handedOver.push(...rows.map(({ id }) => id));
  }

  private async ended(): Promise<void> {
    const { pool } = this.stage.relay.books;
    const open = async () => (await pool.query<{ state: string }>(NOT_COMPLETED, [this.handedOver])).rows;
    const isOver = async () => (await open()).every(({ state }) => state === 'failed');
    await until('videos of the other version to end', isOver);
    const { length } = await open();
    if (length > 0) throw new Error(`${length} videos failed whose worker was replaced`);
  }
}

const UNDER_WAY = `SELECT id FROM tasks WHERE state = 'submitted'`;
const NOT_COMPLETED = `SELECT state FROM tasks WHERE id = ANY($1) AND state <> 'completed'`;

/** This version's migration, as an operator runs it before replacing the programs. */
async function migrate(
  { DATABASE_URL, ADMIN_DATABASE_URL }: SwitchedDatabase['env'],
  secretsKeyFile: string,
): Promise<void> {
  const { code, stderr } = await run(MIGRATE, [], {
    OWNER_DATABASE_URL: DATABASE_URL!,
    ADMIN_DATABASE_URL: ADMIN_DATABASE_URL!,
    SECRETS_KEY_FILE: secretsKeyFile,
  });
  if (code !== 0) throw new Error(`the migration failed: ${stderr}`);
}
