import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readEmbeddedConnection } from '#database/embedded-postgres.js';
import { Books, counterAt } from '../support/books.js';
import { RECOVERY_LIMIT_MS, until } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import {
  ensureBuilt,
  type Environment,
  type StandaloneProcess,
  startStandalone,
} from '../support/programs.js';
import { seededRandom, Shoppers } from '../support/shoppers.js';

/** Short, so that a recovery takes seconds, but in the same order as the real ones. */
const DURATIONS: Environment = {
  SANDBOX_IMAGE_SECONDS: '0',
  SANDBOX_VIDEO_SECONDS: '0.2',
  HOLD_EXPIRES_SECONDS: '2',
  BUS_REQUEST_TIMEOUT_SECONDS: '0.5',
  IMAGE_REQUEST_LIMIT_SECONDS: '2',
  VIDEO_CREATE_LIMIT_SECONDS: '1',
  CHARGE_GRACE_SECONDS: '0.5',
  STUCK_AFTER_SECONDS: '1.5',
  LEASE_SECONDS: '1',
  TASK_DEADLINE_SECONDS: '120',
  SWEEP_INTERVAL_SECONDS: '0.2',
  OUTBOX_POLL_SECONDS: '0.1',
  POLL_INTERVAL_SECONDS: '0.2',
  POLL_MAX_SECONDS: '0.4',
  SHUTDOWN_GRACE_SECONDS: '5',
};

/** More rounds of calls without reaching a point are a fault, not a busy machine. */
const MOST_ROUNDS = 50;

describe('the standalone relay', () => {
  let dataDir: string;
  let relay: StandaloneProcess;
  let books: Books;
  let healthPort: number;

  beforeAll(async () => {
    ensureBuilt();
    dataDir = mkdtempSync(join(tmpdir(), 'tollgate-crash-'));
    healthPort = await freePort();
    await start();
  });

  afterAll(async () => {
    await books?.close();
    await relay?.end('SIGTERM');
    rmSync(dataDir, { recursive: true, force: true });
  });

  afterEach(async () => {
    expect(await books.ledgerFaults()).toEqual([]);
    expect(await books.upstreamFaults()).toEqual([]);
    expect(await counterAt(healthPort, 'tollgate_repairs_total')).toBe(0);
  });

  /** Its content is the point at which the relay is killed. */
  const crashFile = () => join(dataDir, 'crash');

  async function start(): Promise<void> {
    const env = {
      ...DURATIONS,
      DATA_DIR: dataDir,
      HEALTH_PORT: String(healthPort),
      CRASH_FILE: crashFile(),
      LOG_LEVEL: 'warn',
    };
    relay = await startStandalone(env);
    await books?.close();
    const connection = readEmbeddedConnection(join(dataDir, 'database'));
    if (!connection) throw new Error(`no database runs in ${dataDir}`);
    books = Books.open(connection.urlFor('billing'));
  }

  async function shoppers(credits = '50'): Promise<Shoppers> {
    return new Shoppers(await books.account(credits), () => relay.baseUrl);
  }

  /** Waits until everything has ended. It must agree with what the clients saw, and the relay must keep working. */
  async function expectTrueBooks(...groups: Shoppers[]): Promise<void> {
    await books.atRest().catch((error: Error) => {
      throw new Error(`${error.message}\n${relay.stderr().slice(-4_000)}`);
    });
    for (const group of groups) {
      await group.watch();
      expect(await books.faultsOf(group.account, group.told)).toEqual([]);
    }
    const newcomer = await shoppers('0.12');
    await untilAnswered('an image', () => newcomer.images('after the storm'));
    await untilAnswered('a video', () => newcomer.video('after the storm'));
    await newcomer.watch();
    await books.atRest();
    expect(await books.balanceOf(newcomer.account)).toEqual({ main: '0', held: '0' });
  }

  /** With limits this short, a busy machine refuses calls that cost nothing and may be sent again. */
  function untilAnswered(what: string, call: () => Promise<{ status: number | null }>): Promise<boolean> {
    return until(what, async () => (await call()).status === 200);
  }

  async function allEnded(calls: readonly Promise<unknown>[]): Promise<'ended'> {
    await Promise.all(calls);
    // The books of a killed relay do not come to rest.
    await books.atRest().catch(() => undefined);
    return 'ended';
  }

  const someImages = (clients: Shoppers) => [
    ...[1, 2, 3].map((n) => clients.images(`picture ${n}`, n)),
    clients.images('some [[fault:partial]]', 3),
    clients.images('none [[fault:reject-400]]'),
  ];
  const someVideos = (clients: Shoppers) => [
    ...[1, 2, 3].map((seconds) => clients.video('a boat', seconds)),
    clients.video('refused [[fault:moderation]]'),
  ];
  const videosThatFail = (clients: Shoppers) =>
    [1, 2, 3].map((seconds) => clients.video('lost [[fault:fail-late]]', seconds));
  const manyOfBoth = (clients: Shoppers) => [
    ...Array.from({ length: 12 }, (_, n) => clients.images(`picture ${n} [[instant]]`)),
    ...someImages(clients),
    ...someVideos(clients),
  ];

  describe.each([
    ['charge.held', 'images', someImages],
    ['charge.held#2', 'videos', someVideos],
    ['upstream.before#2', 'images', someImages],
    ['upstream.before', 'videos', someVideos],
    ['upstream.accepted', 'images', someImages],
    ['upstream.accepted#2', 'videos', someVideos],
    ['delivery.before-resolve#2', 'images', someImages],
    ['upstream.ended', 'videos', someVideos],
    ['upstream.ended', 'videos that fail', videosThatFail],
    ['file.copied#2', 'videos', someVideos],
    ['task.ended', 'videos', someVideos],
    ['task.ended#2', 'videos that fail', videosThatFail],
    ['batch.before-commit#4', 'images and videos', manyOfBoth],
    ['batch.committed', 'images and videos', manyOfBoth],
  ])('killed at %s under %s', (point, _what, load) => {
    it('loses nothing and charges nothing twice', async () => {
      const clients = await shoppers();
      writeFileSync(crashFile(), point);
      const calls = load(clients);
      // With limits this short, a busy machine may refuse calls before they reach the point.
      for (let round = 1; (await Promise.race([relay.gone, allEnded(calls)])) === 'ended'; round += 1) {
        if (round === MOST_ROUNDS) throw new Error(`no call came to ${point}`);
        calls.push(...load(clients));
      }
      expect(await relay.gone).toBe('SIGKILL');
      expect(existsSync(crashFile())).toBe(false);
      await Promise.all(calls);
      await start();
      await expectTrueBooks(clients);
    });
  });

  /** Clients of several accounts make calls while `work` runs. */
  async function underLoad(
    groups: Shoppers[],
    random: () => number,
    work: () => Promise<void>,
  ): Promise<void> {
    const shopping = Promise.all(groups.map((group) => group.shop(4, random)));
    try {
      await work();
    } finally {
      groups.forEach((group) => group.stop());
      await shopping;
    }
  }

  /** Waits until this many more calls have succeeded. */
  async function untilServed(groups: Shoppers[], more: number): Promise<void> {
    const served = () => groups.reduce((sum, group) => sum + group.count(({ status }) => status === 200), 0);
    const before = served();
    const state = () => relay.stderr().slice(-4_000);
    await until('calls to succeed', async () => served() >= before + more, {
      limitMs: RECOVERY_LIMIT_MS,
      state,
    });
  }

  it('whose database server alone is killed under load recovers by itself, and gives only permitted answers', async () => {
    const groups = [await shoppers(), await shoppers()];
    await underLoad(groups, seededRandom(7), async () => {
      for (let round = 1; round <= 3; round += 1) {
        await untilServed(groups, 10);
        const pid = databasePid();
        process.kill(pid, 'SIGKILL');
        await until('another server', async () => databasePid() !== pid);
      }
      await untilServed(groups, 10);
    });
    await expectTrueBooks(...groups);
    const statuses = groups.flatMap((group) => group.told.map(({ status }) => status));
    expect(statuses.filter((status) => ![200, 400, 502, 503].includes(status ?? 0))).toEqual([]);
  });

  function databasePid(): number {
    const file = join(dataDir, 'database', 'server.json');
    return (JSON.parse(readFileSync(file, 'utf8')) as { pid: number }).pid;
  }
});
