import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { findPostgres } from '#database/postgres-binaries.js';
import { giveTo, runAs, serverAccountFor } from '#database/server-account.js';
import { asLogin, askForCluster } from './database.js';
import { until } from './eventually.js';

/** A hot standby that follows the cluster of the specs by streaming. */
export interface Replica {
  /** The same database and login on the standby. */
  urlOf(primaryUrl: string): string;
  /** What is committed from now on does not arrive. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Safe to repeat. */
  stop(): Promise<void>;
}

const SLOT = 'test_replica';
/** As many as the primary has: a standby that allows fewer does not start. */
const SETTINGS = { hot_standby: 'on', max_connections: 300, shared_buffers: '64MB', fsync: 'off' };

/** Copies the cluster while it runs, as pg_basebackup does, and starts a standby on the copy. */
export async function startReplica(): Promise<Replica> {
  const { adminUrl } = await askForCluster();
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-replica-'));
  const source = await asLogin(adminUrl, dataDirectory);
  const account = serverAccountFor(source);
  giveTo(folder, account);
  const pgdata = join(folder, 'pgdata');
  await asLogin(adminUrl, (admin) => copyCluster(admin, { source, pgdata }));
  for (const file of ['standby.signal', 'backup_label']) giveTo(join(pgdata, file), account);
  const settings = {
    ...SETTINGS,
    listen_addresses: '',
    unix_socket_directories: folder,
    primary_slot_name: SLOT,
    primary_conninfo: conninfoOf(adminUrl),
  };
  const child = spawn(
    join(findPostgres(account).bin, 'postgres'),
    ['-D', pgdata, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    { ...runAs(account), stdio: 'ignore' },
  );
  const gone = new Promise((resolve) => child.once('exit', resolve));
  const urlOf = (primaryUrl: string) => {
    const url = new URL(primaryUrl);
    url.hostname = encodeURIComponent(folder);
    return url.toString();
  };
  const asked = (sql: string) => asLogin(urlOf(adminUrl), async (admin) => void (await admin.query(sql)));
  let stopped: Promise<void> | undefined;
  const stop = async () => {
    child.kill('SIGINT');
    await gone;
    await until('the standby to be forgotten', () => asLogin(adminUrl, dropSlot));
    rmSync(folder, { recursive: true, force: true });
  };
  await until('the standby to answer', () =>
    asked('SELECT').then(
      () => true,
      () => false,
    ),
  );
  return {
    urlOf,
    pause: () => asked('SELECT pg_wal_replay_pause()'),
    resume: () => asked('SELECT pg_wal_replay_resume()'),
    stop: () => (stopped ??= stop()),
  };
}

async function dataDirectory(admin: pg.Client): Promise<string> {
  const { rows } = await admin.query<{ data_directory: string }>('SHOW data_directory');
  return rows[0]!.data_directory;
}

/** The slot keeps the log that the copy needs. */
async function copyCluster(
  admin: pg.Client,
  { source, pgdata }: { source: string; pgdata: string },
): Promise<void> {
  await admin.query('SELECT pg_create_physical_replication_slot($1, true)', [SLOT]);
  await admin.query(`SELECT pg_backup_start('replica', true)`);
  const left = ['postmaster.pid', 'postmaster.opts', 'pg_wal/*', 'pg_replslot/*'];
  mkdirSync(pgdata, { mode: 0o700 });
  const copied = spawnSync('sh', [
    '-c',
    'tar -C "$1" --ignore-failed-read --warning=no-file-changed --warning=no-file-removed ' +
      left.map((pattern) => `--exclude='./${pattern}'`).join(' ') +
      ' -cf - . | tar -C "$2" -xpf -',
    'sh',
    source,
    pgdata,
  ]);
  if (copied.status !== 0) throw new Error(`the cluster could not be copied: ${copied.stderr.toString()}`);
  const { rows } = await admin.query<{ labelfile: string }>('SELECT labelfile FROM pg_backup_stop(false)');
  writeFileSync(join(pgdata, 'backup_label'), rows[0]!.labelfile);
  writeFileSync(join(pgdata, 'standby.signal'), '');
}

/** False while the standby still holds it. */
async function dropSlot(admin: pg.Client): Promise<boolean> {
  const { rows } = await admin.query<{ active: boolean }>(
    'SELECT active FROM pg_replication_slots WHERE slot_name = $1',
    [SLOT],
  );
  if (rows[0]?.active) return false;
  await admin.query('SELECT pg_drop_replication_slot($1)', [SLOT]);
  return true;
}

function conninfoOf(url: string): string {
  const { hostname, port, username, password } = new URL(url);
  const words = {
    host: decodeURIComponent(hostname),
    port,
    user: username,
    password: decodeURIComponent(password),
  };
  return Object.entries(words)
    .map(([name, value]) => `${name}='${value.replace(/[\\']/g, '\\$&')}'`)
    .join(' ');
}
