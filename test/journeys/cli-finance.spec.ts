import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { ensureBuilt, type Finished, run } from '../support/programs.js';
import { createLedgerFixture, type LedgerFixture } from '../support/ledger.js';

const CLI = 'apps/cli/bin/tollgate.mjs';

// Each command is a process of its own, and the machine may be busy.
jest.setTimeout(60_000);

let fixture: LedgerFixture;
let main: string;

beforeAll(async () => {
  ensureBuilt();
  fixture = await createLedgerFixture();
  main = `customer:${(await fixture.account({ credits: '10.000000001' })).accountId}:main`;
}, 300_000);
afterAll(() => fixture?.close());

function finance(...args: string[]): Promise<Finished> {
  return run(CLI, ['finance', ...args], { DATABASE_URL: fixture.urlFor('billing') });
}

describe('tollgate finance', () => {
  it('prints the trial balance for people and for programs', async () => {
    const { code, stdout } = await finance('trial-balance');
    expect(code).toBe(0);
    expect(stdout).toMatch(/issued:credit\s+10\.000000001\s+CRD/);
    const printed = await finance('trial-balance', '--by', 'effective', '--json');
    const { balances } = JSON.parse(printed.stdout) as { balances: object[] };
    expect(balances).toContainEqual(expect.objectContaining({ code: main, balance: '10.000000001' }));
  });

  it('prints the statement of a ledger account', async () => {
    const { code, stdout } = await finance('statement', main);
    expect(code).toBe(0);
    expect(stdout).toMatch(/Opening\s+0 CRD\nClosing\s+10\.000000001 CRD/);
    const unknown = await finance('statement', 'customer:nobody:main');
    expect(unknown).toMatchObject({ code: 1, stderr: 'There is no ledger account customer:nobody:main.\n' });
  });

  it('writes exports, and refuses what makes no sense', async () => {
    const { code, stdout } = await finance('export', '--format', 'hledger', '--account', main);
    expect(code).toBe(0);
    expect(stdout).toContain(`${main}  0 CRD = -10.000000001 CRD`);
    expect((await finance('export', '--format', 'xml')).code).toBe(2);
    expect((await finance('export', '--format', 'csv', '--from', 'yesterday')).code).toBe(2);
    expect((await finance('export', '--format', 'csv', '--summary', '--account', main)).code).toBe(2);
  });
});
