import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { recordFact } from '#identity/installation.js';
import { recordLimit } from '#ledger/outflow.js';
import { inTransaction } from '#database/database.js';
import { newId } from '#platform/ids.js';
import { createLedgerFixture, type LedgerFixture } from '../support/ledger.js';
import { ensureBuilt, type Finished, run } from '../support/programs.js';
import { type StaffMember, staffMember } from '../support/staff.js';
import { ticketOf } from '../support/tickets.js';
import { onOneDay } from '../support/utc-day.js';

const CLI = 'apps/cli/bin/tollgate.mjs';

// Each command is a process of its own, and the machine may be busy.
jest.setTimeout(120_000);

let fixture: LedgerFixture;
let admin: StaffMember;
let other: StaffMember;

beforeAll(async () => {
  ensureBuilt();
  fixture = await createLedgerFixture();
  admin = await staffMember(fixture, 'admin');
  other = await staffMember(fixture, 'admin');
  await recordLimit(fixture.billing, 'manual-topup', 100_000_000_000n);
  await recordLimit(fixture.billing, 'adjustment', 5_000_000_000n);
}, 300_000);
afterAll(() => fixture?.close());

function tollgate(as: { email: string } | null, ...args: string[]): Promise<Finished> {
  const env = { DATABASE_URL: fixture.urlFor('billing'), ...(as && { TOLLGATE_AS: as.email }) };
  return run(CLI, args, env);
}

async function json(as: StaffMember, ...args: string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await tollgate(as, ...args, '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as Record<string, unknown>;
}

describe('the command line', () => {
  it.each([
    [['topup', 'record', 'x', '--paid', '13', '--payment-id', 'x']],
    [['accounts', 'create', '--name', 'Mine', '--credits', '5']],
    [['accounts', 'freeze', 'x', '--reason', 'x']],
    [['finance', 'adjust', 'x', '--give', '1', '--reason', 'goodwill', '--ticket', 'x', '--note', 'x']],
    [['finance', 'write-off', 'x', '--ticket', 'x', '--note', 'x']],
    [['finance', 'reconcile', 'accept', 'stripe', 'x', '--reason', 'x']],
    [['prices', 'propose', '--multiplier', 'Public-Relay=0']],
    [['prices', 'confirm', 'x']],
    [['admin', 'create', '--email', 'mine@example.com']],
    [['approvals', 'list']],
  ])('asks who is acting: %j', async (args) => {
    expect(await tollgate(null, ...args)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('Say who is acting'),
    });
  });

  it('has no other roles than the console, and no other rates', async () => {
    const { accountId } = await fixture.account({ credits: '0' });
    const record = ['topup', 'record', accountId, '--paid', '12', '--payment-id', `p-${accountId}`];
    expect((await tollgate(admin, ...record)).stderr).toContain('it needs the role finance');
    const finance = await staffMember(fixture, 'finance');
    const cheap = await tollgate(finance, ...record, '--rate', '1.2');
    expect(cheap).toMatchObject({ code: 1, stderr: expect.stringContaining('pays at the rate 1.3') });
    const little = ['topup', 'record', accountId, '--paid', '1.29', '--payment-id', `q-${accountId}`];
    expect((await tollgate(finance, ...little)).stderr).toContain('buys at least 1 of balance');
    const disabled = await staffMember(fixture, 'finance');
    await fixture.owner.query('UPDATE users SET disabled_at = now() WHERE id = $1', [disabled.userId]);
    expect((await tollgate(disabled, ...record)).stderr).toContain('may act');
  });

  it('counts a person’s day across its commands, and lets another one decide what is more', () =>
    onOneDay(async () => {
      const [finance, second] = [
        await staffMember(fixture, 'finance'),
        await staffMember(fixture, 'finance'),
      ];
      const record = async (paid: string) => {
        const { accountId } = await fixture.account({ credits: '0' });
        return json(finance, 'topup', 'record', accountId, '--paid', paid, '--payment-id', `p-${accountId}`);
      };
      expect(await record('104')).toMatchObject({ created: true, credits: '80' });
      const more = await record('39');
      expect(more).toMatchObject({ created: false, topupId: null, approvalId: expect.any(String) });
      const approve = ['approvals', 'approve', more['approvalId'] as string];
      expect(await tollgate(finance, ...approve)).toMatchObject({
        code: 1,
        stderr: 'You asked for this: another person must decide.\n',
      });
      expect(await json(second, ...approve)).toMatchObject({ state: 'approved', outcome: { credits: '30' } });
      const { rows } = await fixture.owner.query(
        `SELECT actor, request_id LIKE 'cli:%' AS "isByTool" FROM audit_log WHERE action = 'topup.recorded'
         AND account_id = (SELECT account_id FROM approvals WHERE id = $1)`,
        [more['approvalId']],
      );
      expect(rows).toMatchObject([{ actor: `user:${finance.userId}` }]);
    }));

  it('does nothing for one’s own account or one of one’s own making', async () => {
    const finance = await staffMember(fixture, 'finance', 'support');
    const { ticketId } = await ticketOf(fixture, (await fixture.account({ credits: '0' })).accountId);
    const because = ['--reason', 'goodwill', '--ticket', ticketId, '--note', 'x'];
    const made = await json(finance, 'accounts', 'create', '--name', 'Mine');
    for (const accountId of [finance.accountId, made['accountId'] as string]) {
      for (const args of [
        ['topup', 'record', accountId, '--paid', '13', '--payment-id', `p-${accountId}`],
        ['finance', 'adjust', accountId, '--give', '1', ...because],
        ['accounts', 'unfreeze', accountId, '--note', 'x'],
      ]) {
        expect(await tollgate(finance, ...args)).toMatchObject({
          code: 1,
          stderr: expect.stringContaining('another person must decide'),
        });
      }
    }
  });

  it('lets an administrator decide the deletion of an account, and not whoever asked for it', async () => {
    const { accountId } = await fixture.account({ credits: '0' });
    const { ticketId } = await ticketOf(fixture, accountId);
    const id = newId();
    await fixture.owner.query(
      `INSERT INTO approvals (id, kind, subject, account_id, payload, reason, requested_by, request_id)
       VALUES ($1, 'account.deletion', 'account:' || $2, $2, $3, 'asked for it', $4, $1)`,
      [id, accountId, JSON.stringify({ accountId, ticketId, forfeits: true }), admin.userId],
    );
    expect((await tollgate(admin, 'approvals', 'approve', id)).stderr).toContain('You asked for this');
    expect(await json(other, 'approvals', 'approve', id)).toMatchObject({
      state: 'approved',
      outcome: { deletionId: expect.any(String), dueAt: expect.any(String) },
    });
  });

  it('gives first credits only where payments are played, within the limit', () =>
    onOneDay(async () => {
      const support = await staffMember(fixture, 'support');
      const create = ['accounts', 'create', '--name', 'Trial', '--credits', '60'];
      expect((await tollgate(support, ...create)).stderr).toContain('Payments are real here');
      await inTransaction(fixture.billing, (client) => recordFact(client, 'played-payments', true));
      expect(await json(support, ...create)).toMatchObject({ balance: '60' });
      expect((await tollgate(support, ...create)).stderr).toContain('One person credits 100 USD in a day');
      await inTransaction(fixture.billing, (client) => recordFact(client, 'played-payments', false));
    }));

  it('has prices confirmed by two administrators', async () => {
    const { proposal } = (await json(admin, 'prices', 'propose', '--multiplier', 'Public-Relay=0')) as {
      proposal: { id: string; needsSecondPerson: string };
    };
    expect(proposal.needsSecondPerson).toContain('is 0');
    expect((await tollgate(admin, 'prices', 'confirm', proposal.id)).stderr).toContain(
      'Another administrator',
    );
    expect(await json(other, 'prices', 'confirm', proposal.id)).toMatchObject({
      state: 'confirmed',
      decidedBy: `user:${other.userId}`,
    });
  });
});

describe('a trial before there is an administrator', () => {
  it('has credits within the limit, and no payments', async () => {
    const apart = await createLedgerFixture();
    const env = { DATABASE_URL: apart.urlFor('billing') };
    const create = (credits: string) =>
      run(CLI, ['accounts', 'create', '--name', 'Trial', '--credits', credits], env);
    try {
      expect((await create('5')).code).toBe(0);
      expect((await create('1000')).stderr).toContain('One person credits 1000 USD in a day');
      expect((await create('0.5')).stderr).toContain('buys at least 1 of balance');
    } finally {
      await apart.close();
    }
  });
});
