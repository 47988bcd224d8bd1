import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pendingMigrations, migrate } from '#database/migrations.js';
import { prepareDatabase } from '#database/prepare-database.js';
import { databaseUrlOf } from '#database/roles.js';
import { askForCluster, asLogin, type ClusterAnswer } from '../../../test/support/database.js';
import { createLedgerFixture, type LedgerFixture } from '../../../test/support/ledger.js';
import { writeBackup } from './backup.js';
import { ScratchDatabase } from './scratch-database.js';
import { restoreBackup, type RestoreSummary } from './restore.js';

const PASSPHRASE = 'a passphrase of the tests';
const IGNORE = () => undefined;

/** Each table with a hash of its rows, in whatever order they are stored. */
const CONTENTS_SQL = `
SELECT c.relname AS name, (xpath('/row/h/text()', query_to_xml(format(
    'SELECT md5(string_agg(t::text, chr(10) ORDER BY t::text)) AS h FROM public.%I t', c.relname), true, true, '')))[1]::text AS hash
  FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND c.relpersistence = 'p'
   AND c.relname <> 'schema_migrations' ORDER BY 1`;

const SEQUENCES_SQL = 'SELECT sequencename, last_value FROM pg_sequences ORDER BY 1';

describe('a backup', () => {
  let folder: string;
  let cluster: ClusterAnswer;
  let fixture: LedgerFixture;
  let made = 0;
  const databases: string[] = [];
  const fixtures: LedgerFixture[] = [];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-backup-'));
    cluster = await askForCluster();
    fixture = await createLedgerFixture();
    await fixture.account({ credits: '12.5' });
    await fixture.account({ credits: '0.000001' });
  });

  afterAll(async () => {
    await Promise.all([fixture, ...fixtures].map((each) => each.close()));
    await asLogin(cluster.adminUrl, async (admin) => {
      for (const name of databases) await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    });
    rmSync(folder, { recursive: true, force: true });
  });

  /** The address of a database that does not exist. */
  function absent(): string {
    const name = `backup_${process.pid}_${(made += 1)}`;
    databases.push(name);
    return databaseUrlOf(cluster.ownerUrl, name);
  }

  /** A database whose rows a test changes. */
  async function another(): Promise<LedgerFixture> {
    const one = await createLedgerFixture();
    fixtures.push(one);
    return one;
  }

  async function backup(ownerUrl: string, willBeProved = false): Promise<string> {
    const file = join(folder, `${(made += 1)}.age`);
    const source = { ownerUrl, storage: null, secrets: new Map([['NAME', 'a secret']]) };
    await writeBackup(source, { file, passphrase: PASSPHRASE, willBeProved, onProgress: IGNORE });
    return file;
  }

  async function restore(file: string, ownerUrl: string, despiteFindings = false): Promise<RestoreSummary> {
    const source = { file, passphrase: PASSPHRASE, onProgress: IGNORE };
    const keepSecrets = (secrets: ReadonlyMap<string, string>) =>
      expect([...secrets]).toEqual([['NAME', 'a secret']]);
    const { adminUrl } = cluster;
    return restoreBackup(source, { adminUrl, ownerUrl, storage: null, keepSecrets, despiteFindings });
  }

  const contents = (url: string) => asLogin(url, async (client) => (await client.query(CONTENTS_SQL)).rows);

  async function isThere(ownerUrl: string): Promise<boolean> {
    return asLogin(cluster.adminUrl, async (admin) => {
      const name = new URL(ownerUrl).pathname.slice(1);
      return (await admin.query('SELECT FROM pg_database WHERE datname = $1', [name])).rowCount === 1;
    });
  }

  it('restores every row of every table, and sequences that continue', async () => {
    const target = absent();
    expect(await restore(await backup(fixture.urlFor('owner')), target)).toMatchObject({ isInPlace: true });
    expect(await contents(target)).toEqual(await contents(fixture.urlFor('owner')));
    const sequences = (url: string) =>
      asLogin(url, async (client) => (await client.query(SEQUENCES_SQL)).rows);
    expect(await sequences(target)).toEqual(await sequences(fixture.urlFor('owner')));
  });

  it('of an earlier version is upgraded', async () => {
    const [earlier, target] = [absent(), absent()];
    const owner = decodeURIComponent(new URL(earlier).password);
    const database = new URL(earlier).pathname.slice(1);
    await prepareDatabase({ adminUrl: cluster.adminUrl, database, passwords: { owner } });
    const applied = await migrate({ ownerUrl: earlier, count: 40 });
    expect(applied).toHaveLength(40);
    await restore(await backup(earlier), target);
    expect(await asLogin(target, (client) => pendingMigrations(client))).toEqual([]);
  });

  it('after a rollback names the migration whose version can restore it', async () => {
    const source = (await another()).urlFor('owner');
    const later = `INSERT INTO schema_migrations (name, sha256) VALUES ('9998_adds.sql', 'x'), ('9999_adds.sql', 'x')`;
    await asLogin(source, (owner) => owner.query(later));
    await expect(restore(await backup(source), absent())).rejects.toThrow(
      'of a database with the migration 9998_adds.sql and 1 more, which this version of Tollgate does not have',
    );
    const files = readdirSync(folder);
    await expect(backup(source, true)).rejects.toThrow(
      /^Nothing was written: .* 9998_adds.sql and 1 more, .* Back up with --no-verify/,
    );
    expect(readdirSync(folder)).toEqual(files);
  });

  it('replaces an empty database, but none that is in use', async () => {
    const target = absent();
    const name = new URL(target).pathname.slice(1);
    const file = await backup(fixture.urlFor('owner'));
    await asLogin(cluster.adminUrl, (admin) => admin.query(`CREATE DATABASE ${name}`));
    await asLogin(databaseUrlOf(cluster.adminUrl, name), async (program) => {
      await expect(restore(file, target)).rejects.toThrow(`The database ${name} is in use`);
      await program.query('SELECT');
    });
    expect(await restore(file, target)).toMatchObject({ isInPlace: true });
  });

  it('leaves a database that it cannot inspect where it was', async () => {
    const target = absent();
    const name = new URL(target).pathname.slice(1);
    const scratch = await ScratchDatabase.make({ adminUrl: cluster.adminUrl, ownerUrl: target });
    await asLogin(cluster.adminUrl, (admin) =>
      admin.query(`CREATE DATABASE ${name} ALLOW_CONNECTIONS false`),
    );
    await expect(scratch.takePlace()).rejects.toThrow('not currently accepting connections');
    await scratch.drop();
    expect(await isThere(target)).toBe(true);
  });

  it('is not put in place if its books do not agree, unless that is requested', async () => {
    const books = await another();
    await books.account({ credits: '12.5' });
    const forged = books.urlFor('owner');
    await asLogin(databaseUrlOf(cluster.adminUrl, new URL(forged).pathname.slice(1)), async (admin) => {
      await admin.query('SET session_replication_role = replica');
      await admin.query('UPDATE ledger_entries SET amount = amount * 2');
    });
    const file = await backup(forged);
    const target = absent();
    expect(await restore(file, target)).toMatchObject({ ledger: { ok: false }, isInPlace: false });
    expect(await isThere(target)).toBe(false);
    expect(await restore(file, target, true)).toMatchObject({ ledger: { ok: false }, isInPlace: true });
    expect(await isThere(target)).toBe(true);
  });
});
