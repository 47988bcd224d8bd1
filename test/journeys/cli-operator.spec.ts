import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSandbox, type Sandbox } from '#apps/sandbox-upstream/sandbox-server.js';
import { configureSandboxChannel } from '#catalog/catalog.seed.js';
import { checkLedger } from '#ledger/checks/ledger-check.js';
import { newId } from '#platform/ids.js';
import { createLedgerFixture, type LedgerFixture } from '../support/ledger.js';
import { ensureBuilt, type Finished } from '../support/programs.js';
import { runTollgate } from '../support/tollgate.js';

let ledger: LedgerFixture;
let sandbox: Sandbox;
let files: string;

beforeAll(async () => {
  ensureBuilt();
  ledger = await createLedgerFixture();
  sandbox = await startSandbox({ apiKey: 'sandbox-key' });
  await configureSandboxChannel(ledger.owner, { baseUrl: sandbox.url, apiKey: 'sandbox-key' });
  files = mkdtempSync(join(tmpdir(), 'tollgate-cli-'));
});

afterAll(async () => {
  await sandbox?.close();
  await ledger?.close();
  rmSync(files, { recursive: true, force: true });
});

function tollgate(args: string[], env: Record<string, string> = {}): Promise<Finished> {
  return runTollgate(args, { DATABASE_URL: ledger.urlFor('billing'), STORAGE_DIR: files, ...env });
}

interface Finding {
  check: string;
  state: string;
  detail: string;
  advice: string | null;
}

async function doctor(
  env: Record<string, string> = {},
): Promise<{ code: number | null; checks: Map<string, Finding> }> {
  const { code, stdout } = await tollgate(['doctor', '--json'], env);
  const { checks } = JSON.parse(stdout) as { checks: Finding[] };
  return { code, checks: new Map(checks.map((each) => [each.check, each])) };
}

describe('secrets rotate', () => {
  it('encrypts what is plain or under an earlier key, and names what no key opens', async () => {
    const [first, second] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')];
    const channels = await ledger.owner.query<{ id: string; key: string }>(
      'SELECT id, api_key AS key FROM channels',
    );
    const rotate = (SECRETS_KEY: string) => tollgate(['secrets', 'rotate', '--json'], { SECRETS_KEY });
    const done = (count: number) => ({ channels: count, webhooks: 0, oneTimeCodes: 0, unreadable: [] });
    try {
      expect(JSON.parse((await rotate(first)).stdout)).toEqual(done(channels.rows.length));
      expect(JSON.parse((await rotate(`${second},${first}`)).stdout)).toEqual(done(channels.rows.length));
      const lost = await rotate(first);
      expect(lost.code).toBe(1);
      expect(lost.stderr).toMatch(/SECRETS_KEY lacks the key [0-9a-f]{8}/);
      expect((await tollgate(['secrets', 'rotate'])).stderr).toContain('SECRETS_KEY must be set');
    } finally {
      for (const { id, key } of channels.rows)
        await ledger.owner.query('UPDATE channels SET api_key = $2 WHERE id = $1', [id, key]);
    }
  });
});

describe('dead letters', () => {
  it('are listed, shown, and replayed once', async () => {
    expect(await tollgate(['dead-letters', 'list'])).toMatchObject({
      code: 0,
      stdout: 'There are no dead letters.\n',
    });
    const chargeId = newId();
    const payload = JSON.stringify({ chargeId, accountId: newId(), outcome: 'failed' });
    const { rows } = await ledger.owner.query<{ id: string }>(
      `INSERT INTO dead_letters (topic, partition, "offset", key, payload, charge_id, reason)
       VALUES ('charge.resolved', 0, '7', 'a key', $1, $2, 'Error: meant') RETURNING id::text AS id`,
      [payload, chargeId],
    );
    const id = rows[0]!.id;
    const listed = JSON.parse((await tollgate(['dead-letters', 'list', '--json'])).stdout) as {
      letters: object[];
    };
    expect(listed.letters).toMatchObject([
      { id, topic: 'charge.resolved', about: chargeId, canReplay: true },
    ]);
    expect((await tollgate(['dead-letters', 'show', id])).stdout).toContain(payload);
    await ledger.owner.query(
      `INSERT INTO dead_letters (topic, partition, "offset", key, payload, reason)
       VALUES ('charge.resolved', 0, '8', 'a key', '{}', 'Error: meant')`,
    );
    const newest = JSON.parse(
      (await tollgate(['dead-letters', 'list', '--limit', '1', '--json'])).stdout,
    ) as object;
    expect(newest).toMatchObject({ letters: [{ reason: 'Error: meant' }], more: true });
    const replayed = await tollgate(['dead-letters', 'replay', id]);
    expect(replayed).toMatchObject({ code: 0, stdout: expect.stringContaining('goes out again') });
    expect(await tollgate(['dead-letters', 'replay', id])).toMatchObject({ code: 1 });
    expect(await tollgate(['dead-letters', 'show', 'x'])).toMatchObject({ code: 2 });
    const { rows: sent } = await ledger.owner.query(
      `DELETE FROM outbox WHERE topic = 'charge.resolved' RETURNING payload`,
    );
    expect(sent).toEqual([{ payload: JSON.parse(payload) as object }]);
    expect((await tollgate(['dead-letters', 'list', '--all'])).stdout).toContain(chargeId.slice(0, 8));
    await ledger.owner.query('DELETE FROM dead_letters');
  });
});

describe('channels', () => {
  it('are listed with what they serve, but without their keys', async () => {
    const { code, stdout } = await tollgate(['channels', 'list', '--json']);
    expect(code).toBe(0);
    expect(stdout).not.toContain('sandbox-key');
    const { channels } = JSON.parse(stdout) as { channels: { channelId: string }[] };
    expect(channels.map(({ channelId }) => channelId)).toEqual([
      'sandbox',
      'sandbox-anthropic',
      'sandbox-gemini',
      'sandbox-mesh3d',
    ]);
  });

  it('are tested with something free, whatever their protocol', async () => {
    const { code, stdout } = await tollgate(['channels', 'test', '--json']);
    expect(code).toBe(0);
    const { channels } = JSON.parse(stdout) as { channels: object[] };
    expect(channels).toEqual(
      ['sandbox', 'sandbox-anthropic', 'sandbox-gemini', 'sandbox-mesh3d'].map((channelId) =>
        expect.objectContaining({ channelId, verdict: 'ok', latencyMs: expect.any(Number) }),
      ),
    );
    const response = await fetch(`${sandbox.url}/_sandbox/tasks`);
    expect(await response.json()).toEqual({ tasks: [] });
    expect((await ledger.owner.query('SELECT FROM charges')).rowCount).toBe(0);
  });

  it('say which key is refused, and which address does not answer', async () => {
    await ledger.owner.query(`UPDATE channels SET further_api_keys = '{old}' WHERE id = 'sandbox'`);
    const refused = await tollgate(['channels', 'test', 'sandbox', '--json']);
    expect(refused.code).toBe(1);
    expect(JSON.parse(refused.stdout)).toMatchObject({
      ok: false,
      channels: [
        { key: 1, verdict: 'ok' },
        { key: 2, verdict: 'failed', status: 401, detail: 'refuses the key' },
      ],
    });
    await ledger.owner.query(
      `UPDATE channels SET base_url = 'http://127.0.0.1:9', further_api_keys = '{}' WHERE id = 'sandbox-mesh3d'`,
    );
    const silent = await tollgate(['channels', 'test', 'sandbox-mesh3d']);
    expect(silent).toMatchObject({ code: 1, stdout: expect.stringContaining('no answer: ECONNREFUSED') });
    expect(await tollgate(['channels', 'test', 'nowhere'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('There is no channel "nowhere"'),
    });
  });
});

describe('doctor', () => {
  const trialAccount = async () => {
    const { rows } = await ledger.owner.query(
      `SELECT (SELECT count(*)::int FROM topups) AS topups, main::text, held::text FROM customer_balances b
       JOIN accounts a ON a.id = b.account_id WHERE a.name = 'Tollgate doctor'`,
    );
    return rows;
  };

  it('makes up no payment if payments are real: its charge is refused, as it must be', async () => {
    for (let count = 0; count < 2; count += 1) {
      const { code, checks } = await doctor();
      expect(code).toBe(0);
      expect(checks.get('trial charge')).toMatchObject({
        state: 'ok',
        detail: expect.stringMatching(
          /^refused to hold .* as expected: account [0-9a-z]{26} has no balance$/,
        ),
      });
    }
    expect(await trialAccount()).toEqual([{ topups: 0, main: '0', held: '0' }]);
    expect(await checkLedger(ledger.billing, { graceMs: 0 })).toEqual({ ok: true, violations: [] });
  });

  it('finds everything in order if payments are simulated, and gets its charge refunded each time', async () => {
    for (let count = 0; count < 2; count += 1) {
      const { code, checks } = await doctor({ SANDBOX_PAYMENTS: 'true', PAYMENT_CURRENCY: 'EUR' });
      const notOk = [...checks.values()].filter(({ state }) => state === 'fail');
      expect({ code, notOk }).toEqual({ code: 0, notOk: [] });
      expect(checks.get('trial charge')).toMatchObject({
        state: 'ok',
        detail: expect.stringContaining('released it'),
      });
    }
    expect(await trialAccount()).toEqual([{ topups: 1, main: '1000000000', held: '0' }]);
    const { rows } = await ledger.owner.query('SELECT provider, currency FROM topups');
    expect(rows).toEqual([{ provider: 'sandbox', currency: 'EUR' }]);
    expect(await checkLedger(ledger.billing, { graceMs: 0 })).toEqual({ ok: true, violations: [] });
  });

  it('names the wrong variable, a folder that it cannot write, and what to do', async () => {
    const { code, checks } = await doctor({
      CHARGE_GRACE_SECONDS: 'soon',
      STORAGE_DIR: join(import.meta.filename, 'files'),
    });
    expect(code).toBe(1);
    expect(checks.get('configuration')).toMatchObject({
      state: 'fail',
      detail: expect.stringContaining('CHARGE_GRACE_SECONDS'),
      advice: expect.any(String),
    });
    expect(checks.get('storage')).toMatchObject({
      state: 'fail',
      advice: expect.stringContaining('STORAGE_DIR'),
    });
  });

  it('says that the database is unreachable, that a login has too many rights, and that a broker does not answer', async () => {
    const away = await doctor({ DATABASE_URL: 'postgresql://nobody@127.0.0.1:9/nothing' });
    expect(away.code).toBe(1);
    expect(away.checks.get('database')).toMatchObject({
      state: 'fail',
      advice: expect.stringContaining('DATABASE_URL'),
    });
    const owner = await doctor({ DATABASE_URL: ledger.urlFor('owner') });
    expect(owner.checks.get('database')).toMatchObject({ state: 'warn' });
    const { code, checks } = await doctor({ KAFKA_BROKERS: '127.0.0.1:9' });
    expect(code).toBe(1);
    expect(checks.get('bus')).toMatchObject({
      state: 'fail',
      advice: expect.stringContaining('KAFKA_BROKERS'),
    });
    expect(checks.has('trial charge')).toBe(false);
  });

  it('prints a line per check for people', async () => {
    const { stdout } = await tollgate(['doctor']);
    expect(stdout).toMatch(/^ok {4}configuration {2}/);
    expect(stdout).toMatch(/ok {4}migrations/);
  });
});
