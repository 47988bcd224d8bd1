import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readEmbeddedConnection } from '#database/embedded-postgres.js';
import { until } from '../support/bus.js';
import { createLedgerFixture, type LedgerFixture } from '../support/ledger.js';
import { staffMember } from '../support/staff.js';
import { ensureBuilt, type Finished, launch, run } from '../support/programs.js';
import { socketOf, TcpSwitch } from '../support/tcp-switch.js';
import { runTollgate } from '../support/tollgate.js';

const CLI = 'apps/cli/bin/tollgate.mjs';

let ledger: LedgerFixture;
/** The acting person, for commands that need one. */
let as: string;

beforeAll(async () => {
  ensureBuilt();
  ledger = await createLedgerFixture();
  as = (await staffMember(ledger, 'finance')).email;
});

afterAll(() => ledger?.close());

function tollgate(...args: string[]): Promise<Finished> {
  return runTollgate(args, { DATABASE_URL: ledger.urlFor('billing') });
}

async function json(...args: string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await tollgate(...args, '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as Record<string, unknown>;
}

async function newAccount(...args: string[]): Promise<string> {
  return (await json('accounts', 'create', '--name', 'Acme', ...args))['accountId'] as string;
}

describe('accounts', () => {
  it('are created with a key and a recorded manual top-up, always printed as one object', async () => {
    const { code, stdout } = await tollgate('accounts', 'create', '--name', 'Acme', '--credits', '5');
    expect(code).toBe(0);
    const created = JSON.parse(stdout) as Record<string, string>;
    expect(created).toEqual({
      accountId: expect.stringMatching(/^[0-9a-z]{26}$/),
      apiKey: expect.stringMatching(/^sk-tg-[\w-]{43}$/),
      group: 'Vendora-Main',
      balance: '5',
    });
    const { rows } = await ledger.owner.query(
      'SELECT provider, credits::text, paid_minor::text FROM topups WHERE account_id = $1',
      [created['accountId']],
    );
    expect(rows).toEqual([{ provider: 'manual', credits: '5000000000', paid_minor: '650' }]);
  });

  it('get their first credits in the currency of the house, and record who credited them', async () => {
    const { stdout } = await run(CLI, ['accounts', 'create', '--name', 'Acme', '--credits', '5'], {
      DATABASE_URL: ledger.urlFor('billing'),
      PAYMENT_CURRENCY: 'EUR',
    });
    const { accountId } = JSON.parse(stdout) as { accountId: string };
    const { rows } = await ledger.owner.query(
      `SELECT t.currency, l.actor, l.action FROM topups t JOIN audit_log l ON l.subject = 'topup:' || t.id
       WHERE t.account_id = $1`,
      [accountId],
    );
    expect(rows).toEqual([
      { currency: 'EUR', actor: expect.stringMatching(/^cli:/), action: 'topup.recorded' },
    ]);
  });

  it('show their credits even if the connection breaks as these are committed', async () => {
    const way = await TcpSwitch.open(socketOf(ledger.urlFor('billing')));
    let isRecorded = false;
    way.cutAt((piece) => {
      isRecorded ||= piece.includes('topup.recorded');
      if (!isRecorded || !piece.includes('C\0\0\0\x0bCOMMIT\0')) return false;
      isRecorded = false;
      return true;
    });
    try {
      const { code, stdout } = await run(CLI, ['accounts', 'create', '--name', 'Acme', '--credits', '5'], {
        DATABASE_URL: way.urlOf(ledger.urlFor('billing')),
      });
      expect(code).toBe(1);
      expect(JSON.parse(stdout)).toMatchObject({ balance: '5' });
    } finally {
      await way.close();
    }
  });

  it('show balance, held, invite and their keys', async () => {
    const accountId = await newAccount('--credits', '1.5', '--group', 'Public-Relay');
    expect(await json('accounts', 'show', accountId)).toEqual({
      accountId,
      name: 'Acme',
      main: '1.5',
      held: '0',
      invite: '0',
      frozen: false,
      keys: [{ keyId: expect.any(String), name: 'first key', group: 'Public-Relay', revoked: false }],
    });
    const table = await tollgate('accounts', 'show', accountId);
    expect(table.stdout).toMatch(/Balance\s+1\.5 credits/);
    expect((await tollgate('accounts', 'statement', accountId)).stdout).toMatch(
      /topup .* main +\+1\.5 +1\.5/,
    );
    expect(await json('accounts', 'statement', accountId)).toMatchObject({
      lines: [{ kind: 'topup', balance: 'main', amount: '1.5', balanceAfter: '1.5' }],
    });
  });

  it('are listed, found by the beginning of their name, a page at a time', async () => {
    for (const name of ['Zebra one', 'Zebra two']) await json('accounts', 'create', '--name', name);
    const first = await json('accounts', 'list', 'zebra', '--limit', '1');
    expect(first).toMatchObject({ accounts: [{ name: 'Zebra two', main: '0', frozen: false }], more: true });
    const cursor = first['nextCursor'] as string;
    expect(await json('accounts', 'list', 'zebra', '--cursor', cursor)).toMatchObject({
      accounts: [{ name: 'Zebra one' }],
      more: false,
    });
    const { stdout, stderr } = await tollgate('accounts', 'list', 'zebra', '--limit', '1');
    expect(stdout).toContain('Zebra two');
    expect(stderr).toContain(cursor);
  });

  it('start empty without credits, since nothing is free', async () => {
    expect(await json('accounts', 'create', '--name', 'Empty')).toMatchObject({ balance: '0' });
    const much = await tollgate('accounts', 'create', '--name', 'Rich', '--credits', '5000');
    expect(much).toMatchObject({ code: 1, stderr: expect.stringMatching(/^One person can add at most/) });
    expect(JSON.parse(much.stdout)).toMatchObject({ apiKey: expect.any(String) as string, balance: '0' });
  });
});

describe('keys', () => {
  it('are created and revoked, and the revocation is announced', async () => {
    const accountId = await newAccount();
    const created = await json('keys', 'create', accountId, '--name', 'second', '--group', 'Public-Relay');
    expect(created).toMatchObject({
      accountId,
      group: 'Public-Relay',
      apiKey: expect.stringMatching(/^sk-tg-/),
    });
    const keyId = created['keyId'] as string;
    const revoked = await json('keys', 'revoke', keyId);
    expect(revoked).toEqual({ keyId, accountId, revokedAt: expect.any(String) });
    expect(await json('keys', 'revoke', keyId)).toEqual(revoked);
    const { rows } = await ledger.owner.query(
      `SELECT count(*)::int AS announced FROM outbox WHERE topic = 'key.changed' AND payload ->> 'keyId' = $1`,
      [keyId],
    );
    expect(rows).toEqual([{ announced: 2 }]);
  });
});

describe('account limits', () => {
  it('are set, kept and lifted', async () => {
    const accountId = await newAccount();
    const first = await json('accounts', 'limit', accountId, '--per-minute', '60');
    const none = {
      accountId,
      requestsPerMinute: null,
      tokensPerMinute: null,
      imagesPerMinute: null,
      maxConcurrentRequests: null,
    };
    expect(first).toEqual({ ...none, requestsPerMinute: 60 });
    const others = ['--tokens', '5000', '--images', '10', '--concurrent', '3'];
    expect((await tollgate('accounts', 'limit', accountId, ...others)).stdout).toMatch(
      /minute\s+60\nTokens per minute\s+5000\nImages per minute\s+10\nRequests at the same time\s+3\n/,
    );
    const lifted = ['--per-minute', '--tokens', '--images', '--concurrent'].flatMap((name) => [name, 'none']);
    expect(await json('accounts', 'limit', accountId, ...lifted)).toEqual(none);
  });
});

describe('key limits', () => {
  it('are set, kept, lifted and announced', async () => {
    const accountId = await newAccount();
    const { keyId } = (await json('keys', 'create', accountId)) as { keyId: string };
    const none = { keyId, accountId, requestsPerMinute: null, runningTasks: null };
    const first = await json('keys', 'limit', keyId, '--per-minute', '60');
    expect(first).toEqual({ ...none, requestsPerMinute: 60 });
    expect((await tollgate('keys', 'limit', keyId, '--tasks', '3')).stdout).toMatch(
      /Requests per minute\s+60\nRunning tasks\s+3\n/,
    );
    expect(await json('keys', 'limit', keyId, '--per-minute', 'none', '--tasks', 'none')).toEqual(none);
    const { rows } = await ledger.owner.query(
      `SELECT count(*)::int AS announced FROM outbox WHERE topic = 'key.changed' AND payload ->> 'keyId' = $1`,
      [keyId],
    );
    expect(rows).toEqual([{ announced: 3 }]);
  });
});

describe('top-ups', () => {
  it('convert at the rate and are recorded once per payment', async () => {
    const accountId = await newAccount();
    const by = ['topup', 'record', accountId, '--as', as];
    const record = [...by, '--paid', '13', '--payment-id', `p-${accountId}`];
    const first = await json(...record);
    expect(first).toMatchObject({ created: true, credits: '10', paid: '13', rate: '1.3', balance: '10' });
    expect(await json(...record)).toEqual({ ...first, created: false });
    const reseller = [...by, '--credits', '1', '--rate', '1.2'];
    expect(await tollgate(...reseller, '--payment-id', `r-${accountId}`)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("The account's rate is 1.3"),
    });
    await ledger.owner.query(
      `INSERT INTO account_rate_versions (account_id, rate, effective_from, reason, actor, request_id)
       VALUES ($1, 1.2, now(), 'volume', 'user:somebody', 'r')`,
      [accountId],
    );
    expect(await json(...reseller, '--payment-id', `r-${accountId}`)).toMatchObject({
      credits: '1',
      paid: '1.2',
      balance: '11',
    });
    const other = await tollgate(...by, '--paid', '12', '--payment-id', `p-${accountId}`);
    expect(other).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('is already recorded with different details'),
    });
    expect(await json('accounts', 'show', accountId)).toMatchObject({ main: '11' });
  });
});

describe('a top-up without an owner', () => {
  it('is refused with one sentence', async () => {
    const record = ['topup', 'record', 'nobody', '--credits', '1', '--payment-id', 'x', '--as', as];
    const stderr = 'accountId: There is no account nobody.\n';
    expect(await tollgate(...record)).toEqual({ code: 1, stdout: '', stderr });
  });
});

describe('the ledger check', () => {
  it('is clean, and exits 1 with the offending rows if a balance was tampered with', async () => {
    const accountId = await newAccount('--credits', '1');
    expect(await json('ledger', 'check')).toEqual({ ok: true, violations: [] });
    await ledger.owner.query('UPDATE customer_balances SET main = main + 1 WHERE account_id = $1', [
      accountId,
    ]);
    const { code, stdout } = await tollgate('ledger', 'check', '--json');
    expect(code).toBe(1);
    const { ok, violations } = JSON.parse(stdout) as { ok: boolean; violations: unknown[] };
    expect(ok).toBe(false);
    expect(JSON.stringify(violations)).toContain(accountId);
    const text = await tollgate('ledger', 'check');
    expect(text.code).toBe(1);
    expect(text.stdout).toContain('Invariant 2');
    await ledger.owner.query('UPDATE customer_balances SET main = main - 1 WHERE account_id = $1', [
      accountId,
    ]);
  });
});

describe('a command line', () => {
  it.each([
    [['accounts', 'show', 'nobody'], 'There is no account "nobody".'],
    [['accounts', 'create', '--name', 'A', '--group', 'Nowhere'], 'There is no group "Nowhere".'],
    [['keys', 'revoke', 'nothing'], 'There is no key "nothing".'],
    [['keys', 'limit', 'nothing', '--tasks', '2'], 'There is no key "nothing".'],
  ])('%j is refused with one sentence and exit code 1', async (args, sentence) => {
    expect(await tollgate(...args)).toEqual({ code: 1, stdout: '', stderr: `${sentence}\n` });
  });

  it.each([
    [[]],
    [['acounts']],
    [['accounts', 'create']],
    [['keys', 'limit', 'x']],
    [['keys', 'limit', 'x', '--per-minute', '0']],
    [['accounts', 'create', '--name', 'A', '--credits', '-5']],
    [['accounts', 'create', '--name', 'A', '--credits', '1e3']],
    [['topup', 'record', 'x', '--payment-id', 'x']],
    [['topup', 'record', 'x', '--credits', '1', '--paid', '1.3', '--payment-id', 'x']],
    [['topup', 'record', 'x', '--credits', '0', '--payment-id', 'x']],
    [['topup', 'record', 'x', '--paid', '1.305', '--payment-id', 'x']],
    [['topup', 'record', 'x', '--paid', '1', '--rate', '1.0', '--payment-id', 'x']],
  ])('%j is wrong: exit code 2', async (args) => {
    const { code, stdout } = await tollgate(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  });

  it('prints its version', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    expect(await tollgate('--version')).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });

  it('has help with its exit codes', async () => {
    const { code, stdout } = await tollgate('--help');
    expect(code).toBe(0);
    expect(stdout).toContain('Exit codes:');
    expect((await tollgate('topup', 'record', '--help')).stdout).toContain('--payment-id <id>');
  });

  it('prints one format at a time, wherever --json is', async () => {
    for (const args of [
      ['finance', 'debts', '--csv', '--json'],
      ['--json', 'prices', 'export', '--csv'],
    ]) {
      const { code, stdout, stderr } = await tollgate(...args);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toContain("'--csv' cannot be used with option '--json'");
    }
  });

  it('says in one sentence that the database cannot be reached', async () => {
    const { code, stderr } = await run(CLI, ['ledger', 'check'], {
      DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/nothing',
    });
    expect(code).toBe(1);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(stderr).toContain('cannot be reached');
  });

  it('starts the database of DATA_DIR for the duration of the command if there is no DATABASE_URL, but creates none', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-cli-'));
    const env = { DATA_DIR: join(folder, 'data') };
    for (const command of [
      ['ledger', 'check'],
      ['accounts', 'create', '--name', 'Acme'],
    ]) {
      const refused = await run(CLI, command, env);
      expect(refused).toEqual({ code: 1, stdout: '', stderr: expect.stringContaining(env.DATA_DIR) });
      expect(refused.stderr).toContain('or DATA_DIR to');
    }
    expect(existsSync(env.DATA_DIR)).toBe(false);
    expect((await run(CLI, ['migrate'], env)).code).toBe(0);
    const { stdout } = await run(CLI, ['accounts', 'create', '--name', 'Acme', '--credits', '5'], env);
    const { accountId } = JSON.parse(stdout) as { accountId: string };
    const shown = await run(CLI, ['accounts', 'show', accountId, '--json'], env);
    expect(JSON.parse(shown.stdout)).toMatchObject({ main: '5' });
    expect(JSON.parse((await run(CLI, ['migrate', '--json'], env)).stdout)).toEqual({ migrated: [] });
    expect(existsSync(join(folder, 'data', 'database', 'pgdata', 'postmaster.pid'))).toBe(false);
    rmSync(folder, { recursive: true });
  });

  it('leaves no database running in DATA_DIR if Ctrl-C ends the command', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-cli-'));
    const database = join(folder, 'database');
    expect((await run(CLI, ['migrate'], { DATA_DIR: folder })).code).toBe(0);
    await until('a Ctrl-C came before the command ended', async () => {
      const command = launch(CLI, ['ledger', 'check'], { DATA_DIR: folder });
      let isGone = false;
      void command.gone.then(() => (isGone = true));
      await until('its database runs', () => isGone || readEmbeddedConnection(database) !== undefined);
      const code = await command.end('SIGINT');
      await until('its database has ended', () => readEmbeddedConnection(database) === undefined);
      return code === 130;
    });
    rmSync(folder, { recursive: true });
  });

  it('migrates the database of OWNER_DATABASE_URL', async () => {
    const SECRETS_KEY = randomBytes(32).toString('base64');
    const owner = { OWNER_DATABASE_URL: ledger.urlFor('owner'), SECRETS_KEY };
    const done = await run(CLI, ['migrate', '--json'], owner);
    expect(JSON.parse(done.stdout)).toEqual({ migrated: [] });
    const job = await run('dist/apps/control-plane/migrate.js', [], owner);
    expect(job).toEqual({ code: 0, stdout: '{"migrated":[]}\n', stderr: '' });
    const wrong = await run('dist/apps/control-plane/migrate.js', [], {});
    expect(wrong).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('OWNER_DATABASE_URL must be'),
    });
  });
});
