import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type Person, person } from '../support/console.js';
import { ensureBuilt, type Finished, run } from '../support/programs.js';
import { expectCleanLedger, json, type Relay, startRelay, until } from '../support/relay.js';

/** The chain of a running relay: built behind the postings, told outside, and what it finds when somebody forges. */
const CLI = 'apps/cli/bin/tollgate.mjs';
// Each command is a process of its own, and the machine may be busy.
jest.setTimeout(60_000);

let relay: Relay;
let finance: Person;

beforeAll(async () => {
  ensureBuilt();
  relay = await startRelay({
    CHAIN_SEAL_SECONDS: '0.1',
    RECONCILE_SECONDS: '3600',
    RECONCILE_GRACE_SECONDS: '60',
  });
  finance = await person(relay, { roles: ['finance'] });
  const customer = await relay.customer('10');
  await customer.send(
    '/v1/images/generations',
    json({ model: 'vendora-imagine-image', n: 2, prompt: 'a lighthouse' }),
  );
}, 300_000);
afterAll(() => relay?.close());

function verify(...args: string[]): Promise<Finished> {
  return run(CLI, ['ledger', 'verify', ...args], { DATABASE_URL: relay.fixture.urlFor('billing') });
}

async function blocks(query: { limit?: number; cursor?: string } = {}) {
  const { data } = await finance.api.GET('/api/finance/chain', { params: { query } });
  if (!data) throw new Error('The blocks were not told.');
  return data;
}

/** Everything that was posted is in a block. */
function sealed(): Promise<unknown> {
  return until('everything is sealed', async () => {
    const { rows } = await relay.fixture.owner.query<{ done: boolean }>(
      `SELECT max(id) = (SELECT max(last_id) FROM ledger_chain_blocks) AS done FROM ledger_transactions`,
    );
    return rows[0]?.done === true;
  });
}

/** Changes the ledger as somebody would who may do everything in the database. */
async function forge(sql: string): Promise<void> {
  const client = await relay.fixture.owner.connect();
  try {
    await client.query(`SET session_replication_role = replica`);
    const { rowCount } = await client.query(sql);
    expect(rowCount).toBeGreaterThan(0);
  } finally {
    client.release(true);
  }
}

const SETTLED = `(SELECT id FROM ledger_transactions WHERE kind = 'settle' ORDER BY id LIMIT 1)`;
const double = (times: string) =>
  forge(`UPDATE ledger_entries SET amount = amount ${times} WHERE transaction_id = ${SETTLED}`);

describe('the chain of the ledger', () => {
  it('grows behind the postings, on the bus, in the log and for finance', async () => {
    await sealed();
    const { items } = await blocks({ limit: 1 });
    const [head] = items;
    expect(head?.hash).toMatch(/^[0-9a-f]{64}$/);
    expect(relay.logged()).toContain(head?.hash ?? '-');
    await until('the block is published', async () => {
      const { rows } = await relay.fixture.owner.query(`SELECT FROM outbox WHERE topic = 'ledger.sealed'`);
      return rows.length === 0;
    });
    const { response } = await (await person(relay, { roles: ['support'] })).api.GET('/api/finance/chain');
    expect(response.status).toBe(403);
  });

  it('is told page by page', async () => {
    await relay.customer('5');
    await sealed();
    const numbers: number[] = [];
    for (let cursor: string | undefined; ;) {
      const page = await blocks({ limit: 1, ...(cursor !== undefined && { cursor }) });
      numbers.push(...page.items.map(({ number }) => Number(number)));
      if (page.nextCursor === null) break;
      cursor = page.nextCursor;
    }
    expect(numbers).toEqual(numbers.map((_, index) => numbers.length - index));
    expect(numbers.length).toBeGreaterThan(1);
  });

  it('is verified on the command line, and against a hash that was kept', async () => {
    const hash = (await blocks()).items[0]?.hash ?? '';
    const found = await verify('--head', hash);
    expect(found).toMatchObject({ code: 0 });
    expect(found.stdout).toContain('everything is as it was sealed');
    const printed = JSON.parse((await verify('--json', '--from-block', '2')).stdout) as object;
    expect(printed).toMatchObject({ ok: true, findings: [], head: { hash } });
    const other = await verify('--head', 'f'.repeat(64));
    expect(other).toMatchObject({ code: 1 });
    expect(other.stdout).toContain('No block has the hash');
    expect((await verify('--head', 'abc')).code).toBe(2);
    expect((await verify('--from-block', '0')).code).toBe(2);
  });

  it('names a forged amount on the command line and in its controls, until it is mended', async () => {
    await double('* 2');
    const found = await verify();
    expect(found.code).toBe(1);
    expect(found.stdout).toMatch(/was changed: entry 0 differs, entry 1 differs\. Its reference is charge:/);
    const controls = async () => {
      const { data } = await finance.api.POST('/api/finance/controls/run', {
        body: { controls: ['chain', 'chain-whole'] },
      });
      return data?.controls.map(({ id, count }) => [id, count]);
    };
    expect(await controls()).toEqual([
      ['chain', 1],
      ['chain-whole', 1],
    ]);
    await double('/ 2');
    expect(await controls()).toEqual([
      ['chain', 0],
      ['chain-whole', 0],
    ]);
    await expectCleanLedger(relay);
  });
});
