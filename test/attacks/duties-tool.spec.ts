import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Command } from 'commander';
import { program } from '#apps/cli/program.js';
import { recordFact } from '#identity/installation.js';
import { recordLimit } from '#ledger/postings/outflow.js';
import { formatDecimal, multiply, parseDecimal } from '#money/amount.js';
import { inTransaction } from '#database/database.js';
import { newId } from '#platform/ids.js';
import { createLedgerFixture, type LedgerFixture } from '../support/ledger.js';
import { ensureBuilt, type Finished } from '../support/programs.js';
import { runTollgate } from '../support/tollgate.js';
import { type StaffMember, staffMember } from '../support/staff.js';
import { ticketOf } from '../support/tickets.js';
import { onOneDay } from '../support/utc-day.js';

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
});
afterAll(() => fixture?.close());

function tollgate(as: { email: string } | null, ...args: string[]): Promise<Finished> {
  const env = { DATABASE_URL: fixture.urlFor('billing'), ...(as && { TOLLGATE_AS: as.email }) };
  return runTollgate(args, env);
}

async function json(as: StaffMember, ...args: string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await tollgate(as, ...args, '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as Record<string, unknown>;
}

/** Commands that do not ask who is acting, and why. */
const NOBODY_ACTS: Record<string, readonly string[]> = {
  'they only show something': [
    'accounts list',
    'accounts show',
    'accounts statement',
    'admin list',
    'catalog diff',
    'channels list',
    'groups list',
    'dead-letters list',
    'dead-letters show',
    'keys show',
    'ledger check',
    'ledger verify',
    'usage',
    'prices export',
    'prices list',
    'prices proposals',
    'request-log export',
    'retention',
    ...[
      'adjustments',
      'check',
      'costs bills',
      'costs list',
      'debts',
      'deferred-revenue',
      'export',
      'findings',
    ]
      .concat(['holds', 'lots', 'periods check', 'periods list', 'periods show', 'periods waivers'])
      .concat(['price-changes', 'promotion', 'reconcile bank', 'reconcile charges', 'reconcile coverage'])
      .concat(['reconcile payments', 'reconcile payouts', 'refunds', 'revenue', 'statement', 'trial-balance'])
      .concat(['write-offs'])
      .map((name) => `finance ${name}`),
  ],
  'they ask upstreams and programs whether they work': ['channels test', 'doctor'],
  'it is the relay itself': ['start'],
  'they are of the machine, and change nothing for anybody': ['migrate', 'secrets rotate'],
  'they need the database’s own login, and one of them an empty database': ['backup', 'restore'],
};

function leavesOf(command: Command, path: readonly string[] = []): [string, Command][] {
  if (command.commands.length === 0) return [[path.join(' '), command]];
  return command.commands.flatMap((child) => leavesOf(child, [...path, child.name()]));
}

describe('every command', () => {
  it('asks who is acting, or is known not to need it', () => {
    const leaves = leavesOf(program());
    const asking = leaves.filter(([, { options }]) => options.some(({ long }) => long === '--as'));
    const silent = leaves.filter((leaf) => !asking.includes(leaf)).map(([name]) => name);
    expect(silent.sort()).toEqual(Object.values(NOBODY_ACTS).flat().sort());
    expect(asking.length).toBeGreaterThan(30);
  });
});

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
    [['keys', 'create', 'x']],
    [['keys', 'revoke', 'x']],
    [['keys', 'limit', 'x', '--tasks', '9']],
    [['groups', 'grant', 'x', 'Vendora-Main']],
    [['groups', 'revoke', 'x', 'Vendora-Main']],
    [['dead-letters', 'replay', '1']],
    [['finance', 'costs', 'set', 'sandbox', 'imgmodel-4', '0.01']],
    [['finance', 'costs', 'bill', 'sandbox', 'x', '1', '--from', '2026-01-01', '--to', '2026-01-02']],
    [['finance', 'periods', 'close', '--end', '2026-01-01']],
    [['finance', 'import', 'sandbox']],
  ])('asks who is acting: %j', async (args) => {
    expect(await tollgate(null, ...args)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('Name the person who is acting'),
    });
  });

  it('has the same roles and rates as the console', async () => {
    const { accountId } = await fixture.account({ credits: '0' });
    const record = ['topup', 'record', accountId, '--paid', '12', '--payment-id', `p-${accountId}`];
    expect((await tollgate(admin, ...record)).stderr).toMatch(/it needs the role finance\..* --role finance/);
    const finance = await staffMember(fixture, 'finance');
    const cheap = await tollgate(finance, ...record, '--rate', '1.2');
    expect(cheap).toMatchObject({ code: 1, stderr: expect.stringContaining('rate is 1.3') });
    const little = ['topup', 'record', accountId, '--paid', '1.29', '--payment-id', `q-${accountId}`];
    expect((await tollgate(finance, ...little)).stderr).toContain('buys at least 1 credit');
    const disabled = await staffMember(fixture, 'finance');
    await fixture.owner.query('UPDATE users SET disabled_at = now() WHERE id = $1', [disabled.userId]);
    expect((await tollgate(disabled, ...record)).stderr).toContain('no active person');
  });

  it('adds up a person’s day across its commands, and lets another person decide about the excess', () =>
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
        stderr: 'You requested this, so another person must decide.\n',
      });
      expect(await json(second, ...approve)).toMatchObject({ state: 'approved', outcome: { credits: '30' } });
      const { rows } = await fixture.owner.query(
        `SELECT actor, request_id LIKE 'cli:%' AS "isByTool" FROM audit_log WHERE action = 'topup.recorded'
         AND account_id = (SELECT account_id FROM approvals WHERE id = $1)`,
        [more['approvalId']],
      );
      expect(rows).toMatchObject([{ actor: `user:${finance.userId}` }]);
    }));

  it('does nothing for one’s own account or one that one created', async () => {
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

  it('creates no keys and grants no groups for one’s own account or one that one created', async () => {
    const me = await staffMember(fixture, 'admin');
    const made = (await json(me, 'accounts', 'create', '--name', 'Mine'))['accountId'] as string;
    for (const accountId of [me.accountId, made]) {
      const keyId = await fixture.key(accountId, 'Vendora-Main');
      const commands = [
        ['keys', 'create', accountId, '--group', 'Vendora-Main'],
        ['keys', 'limit', keyId, '--per-minute', 'none'],
        ['keys', 'revoke', keyId],
        ['groups', 'grant', accountId, 'Public-Relay'],
        ['groups', 'revoke', accountId, 'Public-Relay'],
      ];
      for (const args of commands) {
        const stderr: unknown = expect.stringContaining('another person must decide');
        expect({ args, ...(await tollgate(me, ...args)) }).toMatchObject({ args, code: 1, stderr });
      }
      const { rows } = await fixture.owner.query(
        `SELECT count(*) FILTER (WHERE revoked_at IS NOT NULL)::int AS revoked FROM api_keys WHERE account_id = $1`,
        [accountId],
      );
      expect(rows).toEqual([{ revoked: 0 }]);
      expect(await json(other, ...commands[2]!)).toMatchObject({ keyId, accountId });
    }
    await fixture.owner.query(`INSERT INTO groups (name, open) VALUES ('Hidden', false)`);
    const hidden = await tollgate(me, 'accounts', 'create', '--name', 'Mine', '--group', 'Hidden');
    expect(hidden).toMatchObject({ code: 1, stderr: expect.stringContaining('of your own making') });
    const support = await staffMember(fixture, 'support');
    expect((await tollgate(support, 'keys', 'create', made)).stderr).toContain('it needs the role admin');
  });

  it('lets an administrator decide the deletion of an account, and not the person who asked for it', async () => {
    const { accountId } = await fixture.account({ credits: '0' });
    const { ticketId } = await ticketOf(fixture, accountId);
    const id = newId();
    await fixture.owner.query(
      `INSERT INTO approvals (id, kind, subject, account_id, payload, reason, requested_by, request_id)
       VALUES ($1, 'account.deletion', 'account:' || $2, $2, $3, 'asked for it', $4, $1)`,
      [id, accountId, JSON.stringify({ accountId, ticketId, forfeits: true }), admin.userId],
    );
    expect((await tollgate(admin, 'approvals', 'approve', id)).stderr).toContain('You requested this');
    expect(await json(other, 'approvals', 'approve', id)).toMatchObject({
      state: 'approved',
      outcome: { deletionId: expect.any(String), dueAt: expect.any(String) },
    });
  });

  it('gives first credits only if payments are simulated, within the limit', () =>
    onOneDay(async () => {
      const support = await staffMember(fixture, 'support');
      const create = ['accounts', 'create', '--name', 'Trial', '--credits', '60'];
      expect((await tollgate(support, ...create)).stderr).toContain('This relay takes real payments');
      await inTransaction(fixture.billing, (client) => recordFact(client, 'played-payments', true));
      expect(await json(support, ...create)).toMatchObject({ balance: '60' });
      expect((await tollgate(support, ...create)).stderr).toContain(
        'One person can add at most 100 credits per day',
      );
      await inTransaction(fixture.billing, (client) => recordFact(client, 'played-payments', false));
    }));

  it('adds up what one administrator confirms in a day, command by command', () =>
    onOneDay(async () => {
      await recordLimit(fixture.billing, 'price-change-percent', 10n);
      const me = await staffMember(fixture, 'admin');
      const { rows } = await json(me, 'prices', 'export');
      const row = (rows as { model?: string; price?: { unitPrice: string } }[]).find(
        ({ model }) => model === 'imgmodel-4',
      );
      const cut = async (part: string) => {
        const price = formatDecimal(multiply(parseDecimal(row!.price!.unitPrice), parseDecimal(part)));
        const made = await json(me, 'prices', 'propose', '--price', `imgmodel-4=${price}`);
        return tollgate(me, 'prices', 'confirm', (made as { proposal: { id: string } }).proposal.id);
      };
      expect((await cut('0.91')).code).toBe(0);
      expect(await cut('0.8281')).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('more than 10 percent within a day'),
      });
    }));

  it('needs two administrators to confirm prices', async () => {
    const { proposal } = (await json(admin, 'prices', 'propose', '--multiplier', 'Public-Relay=0')) as {
      proposal: { id: string; needsSecondPerson: { message: string } };
    };
    expect(proposal.needsSecondPerson.message).toContain('is 0');
    expect((await tollgate(admin, 'prices', 'confirm', proposal.id)).stderr).toContain(
      'Another administrator',
    );
    expect(await json(other, 'prices', 'confirm', proposal.id)).toMatchObject({
      state: 'confirmed',
      decidedBy: `user:${other.userId}`,
    });
  });
});

describe('a trial without an administrator', () => {
  it('has credits within the limit, and no payments', async () => {
    const apart = await createLedgerFixture();
    const env = { DATABASE_URL: apart.urlFor('billing') };
    const create = (credits: string) =>
      runTollgate(['accounts', 'create', '--name', 'Trial', '--credits', credits], env);
    try {
      expect((await create('5')).code).toBe(0);
      expect((await create('1000')).stderr).toContain('One person can add at most 1000 credits per day');
      expect((await create('0.5')).stderr).toContain('buys at least 1 credit');
    } finally {
      await apart.close();
    }
  });
});
