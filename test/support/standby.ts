import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { findPostgres } from '#database/postgres-binaries.js';
import { giveTo, runAs, type ServerAccount, serverAccountFor } from '#database/server-account.js';
import { endWithThisProcess } from './children.js';
import { asLogin } from './database.js';
import { until } from './eventually.js';

/** A hot standby that streams from a server. */
export interface Standby {
  /** The same database and login on the standby. */
  urlOf(primaryUrl: string): string;
  /** Runs a statement on the standby as the admin. */
  ask(sql: string): Promise<void>;
  /** Safe to repeat. The slot on the primary stays. */
  stop(): Promise<void>;
}

export interface StandbyOptions {
  /** The admin's login to the primary. */
  adminUrl: string;
  /** The name of the slot on the primary, and of the standby. */
  name: string;
  /** A standby does not start if it allows fewer connections than its primary. */
  settings: Settings;
}

/** Copies the running server as pg_basebackup does, and starts a standby on the copy. */
export async function startStandby({ adminUrl, name, settings }: StandbyOptions): Promise<Standby> {
  await asLogin(adminUrl, (admin) =>
    admin.query('SELECT pg_create_physical_replication_slot($1, true)', [name]),
  );
  try {
    return await follow(await copyServer(adminUrl), { adminUrl, name, settings });
  } catch (error) {
    // A slot without a reader would make the primary keep its log without limit.
    await asLogin(adminUrl, (admin) => admin.query('SELECT pg_drop_replication_slot($1)', [name])).catch(
      () => undefined,
    );
    throw error;
  }
}

async function follow(copy: ServerCopy, { adminUrl, name, settings }: StandbyOptions): Promise<Standby> {
  const standby = await startCopy(copy, {
    signal: 'standby.signal',
    settings: {
      ...settings,
      hot_standby: 'on',
      primary_slot_name: name,
      primary_conninfo: conninfoOf(adminUrl, name),
    },
  });
  const ask = (sql: string) =>
    asLogin(standby.urlOf(adminUrl), async (admin) => void (await admin.query(sql)));
  try {
    await until('the standby to answer', () => ask('SELECT').then(yes, no));
  } catch (error) {
    await standby.stop();
    throw error;
  }
  return { ...standby, ask };
}

/** A base backup: the files of a running server. */
export interface ServerCopy {
  folder: string;
  pgdata: string;
  account: ServerAccount;
}

type Settings = Readonly<Record<string, string | number>>;

/** Starts a server on a copy. The signal file makes it follow the primary or recover. */
export async function startCopy(
  { folder, pgdata, account }: ServerCopy,
  { signal, settings }: { signal: 'standby.signal' | 'recovery.signal'; settings: Settings },
): Promise<Omit<Standby, 'ask'>> {
  writeFileSync(join(pgdata, signal), '');
  giveTo(join(pgdata, signal), account);
  const all = Object.entries({ ...settings, listen_addresses: '', unix_socket_directories: folder });
  const child = spawn(
    join(findPostgres(account).bin, 'postgres'),
    ['-D', pgdata, ...all.flatMap(([setting, value]) => ['-c', `${setting}=${value}`])],
    { ...runAs(account), stdio: 'ignore' },
  );
  const gone = new Promise((resolve) => child.once('exit', resolve).once('error', resolve));
  const lift = endWithThisProcess(child.pid ?? 0, 'QUIT');
  return {
    urlOf: (primaryUrl) => {
      const url = new URL(primaryUrl);
      url.hostname = encodeURIComponent(folder);
      return url.toString();
    },
    stop: async () => {
      child.kill('SIGINT');
      await gone;
      await lift();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const yes = () => true;
const no = () => false;

async function dataDirectory(admin: pg.Client): Promise<string> {
  const { rows } = await admin.query<{ data_directory: string }>('SHOW data_directory');
  return rows[0]!.data_directory;
}

/** Something else has to keep the log that the copy needs: a slot or an archive. */
export async function copyServer(adminUrl: string): Promise<ServerCopy> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-copy-'));
  try {
    return await copyInto(folder, adminUrl);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

function copyInto(folder: string, adminUrl: string): Promise<ServerCopy> {
  const pgdata = join(folder, 'pgdata');
  return asLogin(adminUrl, async (admin) => {
    const source = await dataDirectory(admin);
    const account = serverAccountFor(source);
    giveTo(folder, account);
    await admin.query(`SELECT pg_backup_start('copy', true)`);
    copyFiles(source, pgdata);
    const { rows } = await admin.query<{ labelfile: string }>('SELECT labelfile FROM pg_backup_stop(false)');
    const label = join(pgdata, 'backup_label');
    writeFileSync(label, rows[0]!.labelfile);
    giveTo(label, account);
    return { folder, pgdata, account };
  });
}

function copyFiles(source: string, pgdata: string): void {
  const left = ['postmaster.pid', 'postmaster.opts', 'pg_wal/*', 'pg_replslot/*'];
  mkdirSync(pgdata, { mode: 0o700 });
  const script =
    'tar -C "$1" --ignore-failed-read --warning=no-file-changed --warning=no-file-removed ' +
    left.map((pattern) => `--exclude='./${pattern}'`).join(' ') +
    ' -cf - . | tar -C "$2" -xpf -';
  const copied = spawnSync('sh', ['-c', script, 'sh', source, pgdata]);
  if (copied.status !== 0) throw new Error(`the server could not be copied: ${copied.stderr.toString()}`);
}

function conninfoOf(url: string, name: string): string {
  const { hostname, port, username, password } = new URL(url);
  const words = {
    host: decodeURIComponent(hostname),
    port,
    user: username,
    password: decodeURIComponent(password),
    application_name: name,
  };
  return Object.entries(words)
    .map(([key, value]) => `${key}='${value.replace(/[\\']/g, '\\$&')}'`)
    .join(' ');
}
