import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Books } from '../support/books.js';
import { ensureBuilt, run, STANDALONE } from '../support/programs.js';
import { type Relay, startRelay, until } from '../support/relay.js';
import { expectedOutcome, shopTheList } from '../support/scenario.js';
import { seededRandom, Shoppers } from '../support/shoppers.js';

/** Answers are lost on purpose, so retries must come soon. */
const IMPATIENT = { BUS_REQUEST_TIMEOUT_SECONDS: '0.3', HOLD_EXPIRES_SECONDS: '90' };
const EVERYTHING = 'duplicate,reorder,drop-first-reply,max-delay-ms=60';

describe('messages within one process', () => {
  let relay: Relay;
  let books: Books;

  const start = async (env: Record<string, string>) => {
    relay = await startRelay(env);
    books = Books.open(relay.fixture.urlFor('billing'));
  };
  const baseUrl = () => relay.baseUrl;

  afterEach(async () => {
    expect(await books.ledgerFaults()).toEqual([]);
    await books.close();
    await relay.close();
  });

  it.each([
    ['unchanged', ''],
    ['duplicated, out of order, the first answer lost', EVERYTHING],
  ])('%s: the same answers and balances', async (_how, chaos) => {
    await start({ ...IMPATIENT, BUS_CHAOS: chaos });
    const outcomes = await Promise.all(Array.from({ length: 3 }, () => shopTheList(books, baseUrl)));
    expect(outcomes).toEqual([expectedOutcome, expectedOutcome, expectedOutcome]);
  });

  it('from many clients at once, duplicated and out of order: the books agree with what each client received', async () => {
    await start({ ...IMPATIENT, BUS_CHAOS: EVERYTHING });
    const groups = await Promise.all(
      ['20', '20', '0.3'].map(async (credits) => new Shoppers(await books.account(credits), baseUrl)),
    );
    const random = seededRandom(11);
    const shopping = Promise.all(groups.map((group) => group.shop(4, random)));
    while (groups.some((group) => group.told.length < 25)) await groups[0]!.images('[[instant]]');
    groups.forEach((group) => group.stop());
    await shopping;
    await books.atRest();
    for (const group of groups) {
      await group.watch();
      expect(await books.faultsOf(group.account, group.told)).toEqual([]);
    }
    expect(await books.upstreamFaults()).toEqual([]);
  });

  it('answered after the gateway gave up: nothing stays held', async () => {
    await start({
      // The hold must succeed and only its answer be lost. A retry would come too late.
      BUS_REQUEST_TIMEOUT_SECONDS: '2',
      HOLD_EXPIRES_SECONDS: '1.9',
      BUS_CHAOS: 'drop-first-reply',
    });
    const statesAfter = async () => {
      const clients = new Shoppers(await books.account('1'), baseUrl);
      const calls = await Promise.all([clients.images(), clients.video(), clients.images('three', 3)]);
      expect(calls.map(({ status }) => status)).toEqual([503, 503, 503]);
      await books.atRest();
      expect(await books.balanceOf(clients.account)).toEqual({ main: '1', held: '0' });
      const { rows } = await books.pool.query<{ state: string }>(
        'SELECT state FROM charges WHERE account_id = $1',
        [clients.account.accountId],
      );
      return rows.map(({ state }) => state).join();
    };
    // On a busy machine, a hold may itself come too late and be refused.
    await until('three holds in time', async () => (await statesAfter()) === 'released,released,released');
  });
});

describe('BUS_CHAOS with an unknown word', () => {
  const DISTRIBUTED = {
    DATABASE_URL: 'postgres://127.0.0.1:9/none',
    KAFKA_BROKERS: '127.0.0.1:9',
    URL_SIGNING_SECRET: 'a secret of the tests, long enough to sign',
    SECRETS_KEY: 'YSBrZXkgb2YgdGhlIHRlc3RzLCBvZiAzMiBieXRlcyE=',
    STORAGE_DIR: 'none',
  };
  let dataDir: string;

  beforeAll(async () => {
    ensureBuilt();
    dataDir = await mkdtemp(join(tmpdir(), 'tollgate-chaos-'));
  });
  afterAll(() => rm(dataDir, { recursive: true, force: true }));

  it.each([
    'dist/apps/gateway/main.js',
    'dist/apps/billing/main.js',
    'dist/apps/control-plane/main.js',
    STANDALONE,
  ])('ends %s with one sentence and exit code 1', async (program) => {
    const env = { ...DISTRIBUTED, DATA_DIR: dataDir, PORT: '0', CONSOLE_PORT: '0' };
    const { code, stderr } = await run(program, [], { ...env, BUS_CHAOS: 'duplicate,mayhem' });
    expect(stderr).toBe(
      'Configuration: BUS_CHAOS must be a comma list of duplicate, reorder, drop-first-reply, seed=NUMBER, ' +
        'max-delay-ms=NUMBER.\n',
    );
    expect(code).toBe(1);
  });
});
