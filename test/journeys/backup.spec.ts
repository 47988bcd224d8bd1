import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import type pg from 'pg';
import { readEmbeddedConnection } from '#database/embedded-postgres.js';
import { asLogin } from '../support/database.js';
import { UNHURRIED } from '../support/durations.js';
import { until } from '../support/eventually.js';
import {
  ensureBuilt,
  killLaunched,
  launch,
  type StandaloneProcess,
  startStandalone,
} from '../support/programs.js';
import { runTollgate } from '../support/tollgate.js';

const PASSPHRASE = 'a passphrase of the tests';

describe('a backup of a standalone relay', () => {
  let folder: string;
  let dataDir: string;
  let file: string;
  let relay: StandaloneProcess;
  let balance: string;
  let head: string;
  let picture: { path: string; sha256: string };

  const environment = () => ({
    ...UNHURRIED,
    DATA_DIR: dataDir,
    BACKUP_PASSPHRASE: PASSPHRASE,
    CHAIN_SEAL_SECONDS: '0.2',
    SANDBOX_IMAGE_SECONDS: '0',
  });
  const tollgate = (...args: string[]) => runTollgate(args, environment());

  async function json(...args: string[]): Promise<Record<string, never>> {
    const { code, stdout, stderr } = await tollgate(...args, '--json');
    if (code !== 0) throw new Error(`tollgate ${args.join(' ')}: ${stderr}${stdout}`);
    expect(stderr).not.toContain('Warning');
    return JSON.parse(stdout) as Record<string, never>;
  }

  async function payForImage(): Promise<string> {
    const client = new OpenAI({ baseURL: `${relay.baseUrl}/v1`, apiKey: relay.apiKey, maxRetries: 0 });
    const { data } = await client.images.generate({ model: 'vendora-imagine-image', prompt: 'a lighthouse' });
    return new URL(data![0]!.url!).pathname + new URL(data![0]!.url!).search;
  }

  async function readImage(path: string): Promise<string> {
    const answer = await fetch(new URL(path, relay.baseUrl));
    expect(answer.status).toBe(200);
    return createHash('sha256')
      .update(Buffer.from(await answer.arrayBuffer()))
      .digest('hex');
  }

  const balances = async () => JSON.stringify(await json('accounts', 'list'));

  async function databases(): Promise<string[]> {
    const { rows } = await asAdmin<{ name: string }>('SELECT datname AS name FROM pg_database ORDER BY 1');
    return rows.map(({ name }) => name);
  }

  function asAdmin<T extends pg.QueryResultRow>(sql: string): Promise<pg.QueryResult<T>> {
    const connection = readEmbeddedConnection(join(dataDir, 'database'));
    return asLogin(connection!.urlFor('admin'), (admin) => admin.query<T>(sql));
  }

  beforeAll(async () => {
    ensureBuilt();
    folder = mkdtempSync(join(tmpdir(), 'tollgate-backup-'));
    dataDir = join(folder, 'data');
    file = join(folder, 'backup.age');
    relay = await startStandalone(environment());
    const path = await payForImage();
    await payForImage();
    picture = { path, sha256: await readImage(path) };
    const sealed = await until('everything to be sealed', async () => {
      const { head, transactions } = (await json('ledger', 'verify')) as unknown as {
        head: { hash: string } | null;
        transactions: number;
      };
      return head && transactions > 4 ? head : null;
    });
    head = sealed.hash;
    // Enough for its rows to take many members of the archive.
    await asAdmin(`INSERT INTO dead_letters (topic, partition, "offset", reason)
      SELECT 't', 0, n::text, repeat('x', 4194304) FROM generate_series(1, 12) AS n`);
    copyFileSync(join(dataDir, 'chain-signing.pub'), join(folder, 'chain-signing.pub'));
    balance = await balances();
  });

  afterAll(async () => {
    await killLaunched();
    rmSync(folder, { recursive: true, force: true });
  });

  it('is written while the relay runs, and verified at once', async () => {
    const written = await json('backup', file);
    expect(written).toMatchObject({
      ok: true,
      files: 2,
      verified: { ok: true, ledger: { ok: true, violations: [] }, chain: { ok: true }, isInPlace: false },
    });
    expect(readFileSync(file).subarray(0, 21).toString()).toBe('age-encryption.org/v1');
    expect(await databases()).toEqual(['postgres', 'template0', 'template1', 'tollgate']);
  });

  it('never replaces a file', async () => {
    const { code, stderr } = await tollgate('backup', file);
    expect([code, stderr]).toEqual([1, expect.stringContaining('is there already')]);
  });

  it('leaves nothing behind when interrupted', async () => {
    const other = join(folder, 'stopped.age');
    const stopped = launch('dist/apps/cli/main.js', ['backup', other], environment());
    await until('the backup to be begun', async () =>
      readdirSync(folder).some((name) => name.startsWith('stopped')),
    );
    // As from a terminal, where it comes directly and through the launcher.
    const ends = [stopped.end('SIGINT'), stopped.end('SIGINT')];
    expect(await Promise.all(ends)).toEqual([130, 130]);
    expect(stopped.stderr()).toContain('nothing was kept');
    expect(readdirSync(folder).filter((name) => name.startsWith('stopped'))).toEqual([]);
    expect(await databases()).toEqual(['postgres', 'template0', 'template1', 'tollgate']);
  });

  it('cannot be opened with another passphrase', async () => {
    const { code, stderr } = await runTollgate(['restore', file, '--check'], {
      ...environment(),
      BACKUP_PASSPHRASE: 'another passphrase of the tests',
    });
    expect([code, stderr]).toEqual([1, expect.stringContaining('The passphrase does not open')]);
  });

  it.each([
    [
      'changed',
      (bytes: Buffer) =>
        bytes.fill(bytes[bytes.length >> 1]! ^ 1, bytes.length >> 1, (bytes.length >> 1) + 1),
    ],
    ['cut off', (bytes: Buffer) => bytes.subarray(0, bytes.length - 100)],
    ['another file', () => Buffer.from('something else')],
  ])('is refused if it was %s', async (_, spoil) => {
    const spoilt = join(folder, 'spoilt.age');
    writeFileSync(spoilt, spoil(readFileSync(file)));
    const { code, stderr } = await tollgate('restore', spoilt, '--check');
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('is not a backup, or it is incomplete or was changed'),
    ]);
    expect(await databases()).toEqual(['postgres', 'template0', 'template1', 'tollgate']);
  });

  it('does not replace a database that has anything in it', async () => {
    const { code, stderr } = await tollgate('restore', file);
    expect([code, stderr]).toEqual([1, expect.stringContaining('is not empty')]);
    expect(await balances()).toBe(balance);
  });

  it('restores everything after the data folder is lost', async () => {
    await relay.end('SIGTERM');
    rmSync(dataDir, { recursive: true });
    const publicKey = join(folder, 'chain-signing.pub');
    const restored = await json('restore', file, '--head', head, '--public-key', publicKey);
    expect(restored).toMatchObject({ ok: true, isInPlace: true, files: 2 });
    expect(await balances()).toBe(balance);
    expect(await json('ledger', 'check')).toMatchObject({ ok: true });
    expect(await json('ledger', 'verify', '--head', head, '--public-key', publicKey)).toMatchObject({
      ok: true,
    });
    expect(existsSync(join(dataDir, 'secrets.key'))).toBe(true);
  });

  it('continues from there: the same key pays, and an earlier image is still served', async () => {
    relay = await startStandalone(environment());
    expect(await readImage(picture.path)).toBe(picture.sha256);
    await payForImage();
    expect(await balances()).not.toBe(balance);
    expect(await json('ledger', 'check')).toMatchObject({ ok: true });
    await relay.end('SIGTERM');
  });
});
