import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPatientPool } from '../support/database.js';
import { contractOf, type Person, person } from '../support/console.js';
import { routesOf, urlOf } from '../support/console-routes.js';
import { closeClean, type Customer, json, type Relay, startRelay, until } from '../support/relay.js';
import { type Replica, startReplica } from '../support/replica.js';

const ALL_ROLES = ['support', 'finance', 'admin'] as const;
const IMAGE = json({ model: 'imgmodel-4', prompt: 'a lighthouse [[instant]]' });
const AS_OF = 'data-as-of';

let replica: Replica;

beforeAll(async () => {
  replica = await startReplica();
});
afterAll(() => replica?.stop());

function startOn(lagSeconds: string): Promise<Relay> {
  return startRelay((fixture) => ({
    REPORTS_DATABASE_URL: replica.urlOf(fixture.urlFor('billing')),
    REPORTS_LAG_SECONDS: lagSeconds,
    // The bookkeeping jobs mark how far reports on a replica reach.
    CHAIN_SEAL_SECONDS: '0.2',
    REPORT_SECONDS: '0.2',
  }));
}

describe('reports on a read replica', () => {
  let relay: Relay;
  let customer: Customer;
  let user: Person;
  let finance: Person;

  beforeAll(async () => {
    relay = await startOn('600');
    customer = await relay.customer('10');
    user = await person(relay, { accountId: customer.accountId });
    finance = await person(relay, { roles: ALL_ROLES });
  });
  afterAll(async () => {
    await replica.resume();
    await closeClean(relay);
  });

  const usageBalance = async () => {
    const { data } = await finance.api.GET('/api/finance/trial-balance', { params: { query: {} } });
    return data?.balances.find(({ code }) => code === 'usage:image')?.balance;
  };
  const linesOf = async (path: string) => (await (await user.send(path)).text()).trim().split('\n').length;
  const requestsSeen = async () => (await user.api.GET('/api/usage', {})).data?.items.length;

  it('contain what was posted, and say as of when', async () => {
    const before = Date.now();
    expect((await customer.send('/v1/images/generations', IMAGE)).status).toBe(200);
    await until('the posting to be reported', async () => (await usageBalance()) === '0.03');
    const response = await finance.send('/api/finance/trial-balance');
    expect(Date.parse(response.headers.get(AS_OF) ?? '')).toBeGreaterThan(before);
    expect((await user.send('/api/usage')).headers.has(AS_OF)).toBe(false);
  });

  it('use their own connections, which cannot write', async () => {
    const reports = openPatientPool({
      url: replica.urlOf(relay.fixture.urlFor('billing')),
      max: 1,
      applicationName: 'test',
      readOnly: true,
    });
    const { rows } = await reports.query<{ name: string }>(
      `SELECT DISTINCT application_name AS name FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    );
    expect(rows).toEqual([{ name: 'control-plane-reports' }]);
    await expect(reports.query(`DELETE FROM program_reports`)).rejects.toMatchObject({ code: '25006' });
    await reports.end();
    const onPrimary = openPatientPool({
      url: relay.fixture.urlFor('billing'),
      max: 1,
      applicationName: 'test',
      readOnly: true,
    });
    await expect(onPrimary.query(`DELETE FROM program_reports`)).rejects.toMatchObject({ code: '25006' });
    await onPrimary.end();
  });

  it('lack what the replica has not replayed, while pages show what was just done', async () => {
    await replica.pause();
    expect((await customer.send('/v1/images/generations', IMAGE)).status).toBe(200);
    expect(await requestsSeen()).toBe(2);
    expect(await linesOf('/api/usage.csv')).toBe(1 + 1);
    expect(await usageBalance()).toBe('0.03');
  });

  it('read no ledger table of the primary, whichever report it is', async () => {
    const contract = await contractOf(relay.consoleUrl);
    const reports = (await routesOf(relay)).filter(({ path, method }) => {
      const { operation } = contract.find(method, relay.consoleUrl + path)!;
      return JSON.stringify(operation.responses['200'] ?? {}).includes(`"${AS_OF}"`);
    });
    expect(reports.length).toBeGreaterThan(30);
    const client = await relay.fixture.owner.connect();
    try {
      // The replica is paused, so it does not see the locks.
      await client.query(`BEGIN; LOCK TABLE ledger_entries, ledger_transactions, ledger_accounts, charges, credit_lots,
        ledger_balance_snapshots, revenue_days, usage_quarters, adjustments, write_offs, topups, control_findings, ledger_periods
        IN ACCESS EXCLUSIVE MODE`);
      const refused: string[] = [];
      for (const report of reports) {
        const values = { accountId: customer.accountId, controlId: 'holds' };
        const { status } = await finance.send(urlOf(report, values));
        // Some sample IDs and times do not exist.
        if (![200, 400, 404].includes(status)) refused.push(`${report.path}: ${status}`);
      }
      expect(refused).toEqual([]);
    } finally {
      await client.query('ROLLBACK');
      client.release();
    }
  });

  it('catch up by themselves', async () => {
    await replica.resume();
    await until('the second posting', async () => (await usageBalance()) === '0.06');
    expect(await linesOf('/api/usage.csv')).toBe(1 + 2);
  });
});

describe('a replica that lags or is gone', () => {
  let relay: Relay;
  let finance: Person;

  beforeAll(async () => {
    relay = await startOn('0.001');
    finance = await person(relay, { roles: ALL_ROLES });
  });
  afterAll(() => relay?.close());

  const refusal = async () => {
    const response = await finance.send('/api/finance/trial-balance');
    const { error } = (await response.json()) as { error: { code: string; message: string } };
    return { status: response.status, retryAfter: response.headers.get('retry-after'), ...error };
  };

  it('answers 503 with its lag, and charges and pages continue', async () => {
    await replica.pause();
    await until('the replica to be behind', async () => (await refusal()).message.includes('seconds behind'));
    expect(await refusal()).toMatchObject({ status: 503, code: 'service_unavailable', retryAfter: '2' });
    await expectServed();
    await replica.resume();
  });

  it('answers 503 when it is gone, without revealing its address', async () => {
    await replica.stop();
    const { status, message } = await refusal();
    expect(status).toBe(503);
    expect(message).toBe('The database of reports does not answer at the moment; try again soon.');
    await expectServed();
  });

  async function expectServed(): Promise<void> {
    const customer = await relay.customer('1');
    expect((await customer.send('/v1/images/generations', IMAGE)).status).toBe(200);
    expect((await finance.send('/api/usage')).status).toBe(200);
  }
});
