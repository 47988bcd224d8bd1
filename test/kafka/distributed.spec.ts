import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { setTimeout as pause } from 'node:timers/promises';
import { type Account } from '../support/books.js';
import { Deployment, type Kind } from '../support/deployment.js';
import { OUTAGE_DURATIONS, PATIENCE } from '../support/durations.js';
import { RECOVERY_LIMIT_MS, until } from '../support/eventually.js';
import { ensureBuilt, type Environment } from '../support/programs.js';
import { expectedOutcome, shopTheList } from '../support/scenario.js';
import { seededRandom, Shoppers } from '../support/shoppers.js';

const SETTINGS: Environment = {
  ...OUTAGE_DURATIONS,
  PUBLISH_SETTLEMENTS: 'true',
  BUS_REQUEST_TIMEOUT_SECONDS: '0.7',
  TASK_DEADLINE_SECONDS: '120',
};

describe('two of each program over Kafka', () => {
  let relay: Deployment;

  beforeAll(async () => {
    ensureBuilt();
    relay = await Deployment.start({ env: SETTINGS, each: 2 });
    await relay.untilReady();
  });

  afterAll(async () => {
    await relay?.stop();
  });

  afterEach(async () => {
    expect(await relay.books.ledgerFaults()).toEqual([]);
    expect(await relay.books.upstreamFaults(relay.ready.sandboxUrl)).toEqual([]);
    expect(await relay.repairs()).toBe(0);
  });

  async function shoppers(credits = '50'): Promise<Shoppers> {
    return new Shoppers(await relay.books.account(credits), relay.nextUrl);
  }

  async function imagesAsked(): Promise<number> {
    const answer = await fetch(`${relay.ready.sandboxUrl}/_sandbox/stats`);
    return ((await answer.json()) as { imagesRequests: number }).imagesRequests;
  }

  async function expectTrueBooks(...groups: Shoppers[]): Promise<void> {
    await relay.untilReady();
    await relay.atRest();
    for (const group of groups) {
      await group.watch();
      expect(await relay.books.faultsOf(group.account, group.told)).toEqual([]);
    }
  }

  /** Restarts the gateways with other limits. The defaults here are short, so that a recovery takes seconds. */
  async function restartGateways(env: Environment = {}): Promise<void> {
    for (const index of [0, 1]) await relay.replace('gateway', index, 'SIGTERM', env);
    await relay.untilReady();
  }

  /** Clients of several accounts call while `work` runs. */
  async function underLoad(
    groups: Shoppers[],
    random: () => number,
    work: () => Promise<void>,
  ): Promise<void> {
    const shopping = Promise.all(groups.map((group) => group.shop(3, random)));
    try {
      await work();
    } finally {
      groups.forEach((group) => group.stop());
      await shopping;
    }
  }

  const served = (groups: Shoppers[]) =>
    groups.reduce((sum, group) => sum + group.count(({ status }) => status === 200), 0);

  async function untilServed(groups: Shoppers[], more: number): Promise<void> {
    const before = served(groups);
    await until('calls to succeed', async () => served(groups) >= before + more, {
      limitMs: RECOVERY_LIMIT_MS,
      state: () => relay.logs(),
    });
  }

  it('refuses a second start on the same folder, which changes nothing there', async () => {
    const before = relay.pids();
    const { code, stderr } = await relay.startAgain();
    expect([code, stderr]).toEqual([1, expect.stringContaining('is in use by another Tollgate')]);
    expect(relay.pids()).toEqual(before);
    await relay.untilReady();
  });

  describe('with limits that a busy machine does not reach', () => {
    beforeAll(() => restartGateways(PATIENCE));
    afterAll(() => restartGateways());

    it('delivers what they pay for to every client of both gateways, and nothing else', async () => {
      const outcomes = await Promise.all([1, 2, 3, 4].map(() => shopTheList(relay.books, relay.nextUrl)));
      expect(outcomes).toEqual(outcomes.map(() => expectedOutcome));
    });

    it('serves a video through either gateway, and charges it once', async () => {
      const clients = await shoppers('0.1');
      const { taskId } = await clients.video('seen by both', 2);
      await expectTrueBooks(clients);
      const files = [await clients.download(taskId!), await clients.download(taskId!)];
      expect(files[0]).toEqual(files[1]);
      expect(await relay.books.balanceOf(clients.account)).toEqual({ main: '0', held: '0' });
    });

    it('accepts exactly one of 64 requests of an account whose balance covers one', async () => {
      const clients = await shoppers('0.02');
      await Promise.all(Array.from({ length: 64 }, () => clients.images('[[instant]]')));
      expect(clients.count(({ status }) => status === 200)).toBe(1);
      expect(clients.count(({ code }) => code === 'insufficient_user_quota')).toBe(63);
      await expectTrueBooks(clients);
      expect(await relay.books.balanceOf(clients.account)).toEqual({ main: '0', held: '0' });
    });
  });

  describe.each<[Kind, [string, (clients: Shoppers) => Promise<unknown>][]]>([
    [
      'gateway',
      [
        ['charge.held', (clients) => clients.images()],
        ['upstream.before', (clients) => clients.video()],
        ['upstream.accepted', (clients) => clients.images('two', 2)],
        ['upstream.accepted', (clients) => clients.video()],
        ['delivery.before-resolve', (clients) => clients.images()],
        ['charge.held', (clients) => clients.video()],
      ],
    ],
    [
      'videoWorker',
      [
        ['upstream.ended', (clients) => clients.video()],
        ['file.copied', (clients) => clients.video()],
        ['task.ended', (clients) => clients.video()],
        ['upstream.ended', (clients) => clients.video('lost [[fault:fail-late]]')],
        ['task.ended', (clients) => clients.video('lost [[fault:fail-late]]')],
      ],
    ],
    [
      'billing',
      [
        ['batch.before-commit#3', (clients) => clients.images()],
        ['batch.committed#2', (clients) => clients.video()],
      ],
    ],
  ])('when a %s is killed', (kind, cases) => {
    it(`at ${cases.map(([point]) => point).join(', ')}: nothing is lost or charged twice`, async () => {
      const clients = await shoppers();
      for (const [point, call] of cases) {
        const before = relay.pids()[kind];
        relay.arm(point);
        while (relay.isArmed()) await Promise.all([1, 2, 3, 4].map(() => call(clients)));
        const hasChanged = () => relay.pids()[kind].some((pid, index) => pid !== before[index]);
        await until(`${kind} to be replaced`, async () => hasChanged());
        await until('nobody to be down', async () => !relay.pids()[kind].includes(null));
        await relay.untilReady();
      }
      await expectTrueBooks(clients);
    });
  });

  it('killed at random, one after the other, under load', async () => {
    const seed = Number(process.env['CRASH_SEED'] ?? Date.now() % 1_000_000);
    process.stdout.write(`CRASH_SEED=${seed} replays the choice of the kills\n`);
    const random = seededRandom(seed);
    const kinds: Kind[] = ['gateway', 'billing', 'videoWorker', 'gateway'];
    const groups = [await shoppers(), await shoppers(), await shoppers('1')];
    await underLoad(groups, random, async () => {
      for (let round = 0; round < 4; round += 1) {
        await untilServed(groups, 5);
        await pause(random() * 1_000);
        const kind = kinds[round % kinds.length] as Kind;
        await relay.replace(kind, Math.floor(random() * 2), 'SIGKILL');
        await relay.untilReady();
      }
      await untilServed(groups, 5);
    });
    await expectTrueBooks(...groups);
  });

  describe('with more time for a hold', () => {
    beforeAll(() => restartGateways({ ...PATIENCE, HOLD_EXPIRES_SECONDS: '12' }));

    it('refuses what billing reads too late, and settles what was delivered in the meantime', async () => {
      const { clients, slow, isHeld } = await stoppedMeanwhile();
      try {
        const late = [clients.images(), clients.video(), clients.images('three', 3)];
        expect((await Promise.all(late)).map(({ status }) => status)).toEqual([503, 503, 503]);
        expect((await slow).status).toBe(200);
        expect(await isHeld()).toBe(true);
      } finally {
        relay.signal('billing', 'SIGCONT');
      }
      await expectTrueBooks(clients);
      expect(await relay.books.balanceOf(clients.account)).toEqual({ main: '0.98', held: '0' });
      expect(await statesOf(clients.account)).toEqual(['refused', 'refused', 'refused', 'settled']);
    });

    /** Stops billing while a client's call is upstream. */
    async function stoppedMeanwhile() {
      for (;;) {
        const clients = await shoppers('1');
        const isHeld = async () => (await relay.books.balanceOf(clients.account)).held === '0.02';
        const before = await imagesAsked();
        const slow = clients.images('slow [[work:8]]');
        // The upstream call proves that the gateway received the answer to its hold. The database may be ahead of it.
        const isUpstream = until('the call upstream', async () => (await imagesAsked()) > before);
        await Promise.race([isUpstream, slow]);
        relay.signal('billing', 'SIGSTOP');
        if (await isHeld()) return { clients, slow, isHeld };
        // A busy machine was too late, for the hold or for the call.
        relay.signal('billing', 'SIGCONT');
        await slow;
      }
    }

    it('does not change the ledger when every message is read again from the start', async () => {
      await relay.atRest();
      const before = await ledger();
      relay.signal('billing', 'SIGSTOP');
      try {
        await relay.rewindBilling();
        expect(await relay.unreadCount()).toBe(await relay.messageCount());
      } finally {
        relay.signal('billing', 'SIGCONT');
      }
      await expectTrueBooks();
      expect(await ledger()).toEqual(before);
    });

    it('gives the same answers and balances if messages are duplicated, reordered and unanswered', async () => {
      // Two answers of each call are lost, and what waits for them must not expire.
      await restartGateways({ ...PATIENCE, BUS_REQUEST_TIMEOUT_SECONDS: '0.7' });
      const chaos = { BUS_CHAOS: 'duplicate,reorder,drop-first-reply,max-delay-ms=60' };
      await Promise.all([
        relay.replace('billing', 0, 'SIGTERM', chaos),
        relay.replace('billing', 1, 'SIGTERM', chaos),
      ]);
      await relay.untilReady();
      const outcomes = await Promise.all([1, 2, 3].map(() => shopTheList(relay.books, relay.nextUrl)));
      expect(outcomes).toEqual(outcomes.map(() => expectedOutcome));
      const groups = [await shoppers('20'), await shoppers('0.3')];
      await underLoad(groups, seededRandom(5), () => untilServed(groups, 25));
      await expectTrueBooks(...groups);
    });
  });

  it('has announced every settlement and every release, and nothing else', async () => {
    await relay.atRest();
    const idsOf = async (topic: string) => {
      const messages = await relay.messagesOf<{ chargeId: string }>(topic);
      return [...new Set(messages.map(({ chargeId }) => chargeId))].sort();
    };
    const idsWhere = async (condition: string) => {
      const sql = `SELECT id FROM charges WHERE state IN ('settled', 'released') AND ${condition} ORDER BY id`;
      return (await relay.books.pool.query<{ id: string }>(sql)).rows.map(({ id }) => id);
    };
    expect(await idsOf('charge.settled')).toEqual(await idsWhere('settled > 0'));
    expect(await idsOf('charge.refunded')).toEqual(await idsWhere('released > 0'));
  });

  async function statesOf({ accountId }: Account): Promise<string[]> {
    const { rows } = await relay.books.pool.query<{ state: string }>(
      'SELECT state FROM charges WHERE account_id = $1 ORDER BY state',
      [accountId],
    );
    return rows.map(({ state }) => state);
  }

  /**
   * Everything that messages write, as one fingerprint per table. Recognition and upstream costs follow later, by the
   * clock.
   */
  async function ledger(): Promise<unknown> {
    const behind = `SELECT id FROM ledger_transactions WHERE kind IN ('recognition', 'upstream_cost')`;
    const tables = {
      charges: '',
      ledger_transactions: `WHERE id NOT IN (${behind})`,
      ledger_entries: `WHERE transaction_id NOT IN (${behind})`,
      customer_balances: '',
      key_spend: '',
      tasks: '',
    };
    const prints = Object.entries(tables).map(
      ([table, where]) =>
        `(SELECT count(*) || md5(string_agg(t::text, ' ' ORDER BY t::text)) FROM ${table} t ${where}) AS ${table}`,
    );
    return (await relay.books.pool.query(`SELECT ${prints.join(', ')}`)).rows[0];
  }
});
