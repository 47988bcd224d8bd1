import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { visitor } from '../support/console.js';
import { ensureBuilt, type Finished } from '../support/programs.js';
import { runTollgate } from '../support/tollgate.js';
import { type Relay, startRelay } from '../support/relay.js';

let relay: Relay;

beforeAll(async () => {
  ensureBuilt();
  relay = await startRelay();
});
afterAll(() => relay?.close());

function tollgate(args: string[], env: Record<string, string> = {}): Promise<Finished> {
  return runTollgate(args, {
    DATABASE_URL: relay.fixture.urlFor('billing'),
    PUBLIC_CONSOLE_URL: 'https://console.example.com/',
    ...env,
  });
}

async function json(args: string[], env: Record<string, string> = {}): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await tollgate([...args, '--json'], env);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as Record<string, unknown>;
}

const signIn = async (email: string, password: string) => {
  const { data, response } = await visitor(relay).POST('/api/public/sign-in', { body: { email, password } });
  return data?.roles ?? response.status;
};

describe('tollgate admin', () => {
  it('creates the first administrator, who sets a password with a one-time link', async () => {
    const made = await json(['admin', 'create', '--email', 'Ada@Example.com']);
    expect(made).toMatchObject({ email: 'ada@example.com', roles: ['user', 'admin'], created: true });
    const [, token] = /^https:\/\/console\.example\.com\/reset-password#token=(.+)$/.exec(
      made['passwordLink'] as string,
    )!;
    expect(await signIn('ada@example.com', 'none')).toBe(401);
    const { data } = await visitor(relay).POST('/api/public/password-resets/confirm', {
      body: { token: token!, password: 'a password of some length' },
    });
    expect(data?.roles).toEqual(['user', 'admin']);
    expect(await signIn('ada@example.com', 'a password of some length')).toEqual(['user', 'admin']);
    const { rows } = await relay.fixture.owner.query(
      `SELECT action, actor FROM audit_log WHERE subject = $1`,
      [`user:${String(made['userId'])}`],
    );
    expect(rows[0]).toMatchObject({ action: 'person.created', actor: expect.stringMatching(/^cli:./) });
  });

  it('lets the first one appoint the second alone, but no other', async () => {
    const create = (email: string, ...more: string[]) => ['admin', 'create', '--email', email, ...more];
    expect(await tollgate(create('eve@example.com'))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Name the person who is acting'),
    });
    const as = ['--as', 'ada@example.com'];
    const second = await json(create('grace@example.com', ...as));
    expect(second).toMatchObject({ roles: ['user', 'admin'], approvalId: null, created: true });
    const third = await json(create('eve@example.com', ...as));
    expect(third).toMatchObject({ roles: ['user'], approvalId: expect.any(String) });
    // Not even if the second one is gone.
    await relay.fixture.owner.query(`UPDATE users SET roles = '{user}' WHERE email = 'grace@example.com'`);
    const fourth = await json(create('mallory@example.com', ...as));
    expect(fourth).toMatchObject({ roles: ['user'], approvalId: expect.any(String) });
    await relay.fixture.owner.query(
      `UPDATE users SET roles = '{user,admin}' WHERE email = 'grace@example.com'`,
    );
  });

  it('takes a password from the environment, and roles once another administrator agrees', async () => {
    const env = { TOLLGATE_ADMIN_PASSWORD: 'from the environment', TOLLGATE_AS: 'ada@example.com' };
    const create = ['admin', 'create', '--email', 'lin@example.com'];
    const made = await json([...create, '--role', 'support'], env);
    expect(made).toMatchObject({ roles: ['user'], passwordLink: null, approvalId: expect.any(String) });
    const approve = ['approvals', 'approve', made['approvalId'] as string];
    expect(await tollgate(approve, { TOLLGATE_AS: 'ada@example.com' })).toMatchObject({
      code: 1,
      stderr: 'You requested this, so another person must decide.\n',
    });
    expect(await json(approve, { TOLLGATE_AS: 'grace@example.com' })).toMatchObject({
      state: 'approved',
      self: false,
      outcome: { roles: ['user', 'support'] },
    });
    expect(await signIn('lin@example.com', 'from the environment')).toEqual(['user', 'support']);
    const { operators } = await json(['admin', 'list']);
    expect(operators).toContainEqual(
      expect.objectContaining({ email: 'lin@example.com', totpEnabled: false }),
    );
    expect(await tollgate([...create, '--link'], { TOLLGATE_AS: 'ada@example.com' })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is a member of staff'),
    });
  });

  it.each([
    [['--email', 'nonsense'], 2, /e-mail address/],
    [['--email', 'a@example.com', '--role', 'king'], 2, /support, finance, admin/],
    [[], 2, /--email/],
    [['--email', 'a@example.com', '--prompt'], 1, /TOLLGATE_ADMIN_PASSWORD/],
    [
      ['--email', 'a@example.com', '--as', 'nobody@example.com'],
      1,
      /There is no active person with the email address/,
    ],
    [['--email', 'a@example.com', '--as', 'lin@example.com'], 1, /needs the role admin/],
  ])('refuses %j', async (args, code, message) => {
    const finished = await tollgate(['admin', 'create', ...args]);
    expect(finished.code).toBe(code);
    expect(finished.stderr).toMatch(message);
  });

  it('refuses a short password', async () => {
    const args = ['admin', 'create', '--email', 'b@example.com'];
    const { code, stderr } = await tollgate(args, { TOLLGATE_ADMIN_PASSWORD: 'short' });
    expect([code, stderr]).toEqual([1, 'A password must have 10 to 200 characters.\n']);
  });
});

describe('tollgate accounts', () => {
  it('finds and freezes accounts, and lifts the freeze, but not that of a debt', async () => {
    const { accountId } = await relay.fixture.account({ credits: '1' });
    const found = await json(['accounts', 'find', accountId]);
    expect(found).toMatchObject({ accounts: [{ accountId, main: '1', frozen: false }], more: false });
    const as = ['--as', 'ada@example.com'];
    const freeze = ['accounts', 'freeze', accountId, '--reason', 'stolen card', ...as];
    expect(await json(freeze)).toEqual({ accountId, frozen: true, reason: 'stolen card', changed: true });
    expect(await json(freeze)).toMatchObject({ changed: false });
    await relay.fixture.owner.query('UPDATE customer_balances SET main = -1 WHERE account_id = $1', [
      accountId,
    ]);
    const unfreeze = ['accounts', 'unfreeze', accountId, '--note', 'returned', ...as];
    expect(await tollgate(unfreeze)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('below zero'),
    });
    await relay.fixture.owner.query('UPDATE customer_balances SET main = 0 WHERE account_id = $1', [
      accountId,
    ]);
    expect(await json(unfreeze)).toMatchObject({ frozen: false, reason: null });
    const other = `0${accountId.slice(1)}`.replace(/.$/, (last) => (last === 'z' ? 'y' : 'z'));
    const { code, stderr } = await tollgate(['accounts', 'freeze', other, '--reason', 'nobody', ...as]);
    expect([code, stderr]).toEqual([1, `There is no account "${other}".\n`]);
  });
});

describe('tollgate keys show', () => {
  it('says what a key may do and what it has spent', async () => {
    const { accountId, keyId } = await relay.fixture.account({ credits: '1' });
    await relay.fixture.owner.query(
      `UPDATE api_keys SET total_limit_nanos = 5000000000, allowed_ips = '{10.0.0.0/8}' WHERE id = $1`,
      [keyId],
    );
    await relay.fixture.owner.query(`INSERT INTO key_spend VALUES ($1, '2020-01-01', 20000000)`, [keyId]);
    expect(await json(['keys', 'show', keyId])).toMatchObject({
      keyId,
      accountId,
      totalLimit: '5',
      monthlyLimit: null,
      spent: '0.02',
      spentThisMonth: '0',
      allowedIps: ['10.0.0.0/8'],
      allowedModels: null,
      revokedAt: null,
      lastUsedAt: null,
    });
    const { stdout } = await tollgate(['keys', 'show', keyId]);
    expect(stdout).toMatch(/Spent +0\.02 credits of 5/);
    expect(await tollgate(['keys', 'show', 'nothing'])).toMatchObject({ code: 1 });
  });
});
