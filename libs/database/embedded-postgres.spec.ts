import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import pg from 'pg';
import { pino } from 'pino';
import { identifyProcess, isRunning } from './data-folder-lock.js';
import { readEmbeddedConnection, startEmbeddedPostgres, type EmbeddedPostgres } from './embedded-postgres.js';
import type { EmbeddedPostgresOptions } from './embedded-server.js';
import { findPostgres } from './postgres-binaries.js';
import { runAs, serverAccountFor } from './server-account.js';

const log = pino({ level: 'silent' });
let root: string;
let running: EmbeddedPostgres[];

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'tollgate-spec-'));
  chmodSync(root, 0o755);
  running = [];
});

afterEach(async () => {
  await Promise.all(running.map((server) => server.stop()));
  rmSync(root, { recursive: true, force: true });
});

async function start(
  dataDir = join(root, 'data'),
  more: Partial<EmbeddedPostgresOptions> = {},
): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ dataDir, log, ...more });
  running.push(server);
  return server;
}

async function query<T = Record<string, unknown>>(url: string, sql: string): Promise<T[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(sql)).rows as T[];
  } finally {
    await client.end();
  }
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 180_000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error('the condition did not come true in time');
    await pause(20);
  }
}

async function canConnect(url: string): Promise<boolean> {
  return query(url, 'SELECT 1').then(
    () => true,
    () => false,
  );
}

describe('the embedded PostgreSQL', () => {
  it('is durable, private, and keeps its data across starts', async () => {
    const first = await start();
    await query(first.ownerUrl, 'CREATE TABLE kept (value int)');
    await query(first.ownerUrl, 'INSERT INTO kept VALUES (7)');
    const [settings] = await query(
      first.ownerUrl,
      `SELECT current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS sync,
              current_setting('listen_addresses') AS addresses, current_setting('server_version_num')::int >= 150000 AS recent`,
    );
    expect(settings).toEqual({ fsync: 'on', sync: 'on', addresses: '', recent: true });
    expect(statSync(first.socketDir).mode & 0o777).toBe(0o700);
    expect(statSync(join(root, 'data', 'passwords.json')).mode & 0o777).toBe(0o600);
    await first.stop();
    expect(identifyProcess(first.pid)).toBeUndefined();

    const second = await start();
    expect(await query(second.ownerUrl, 'SELECT value FROM kept')).toEqual([{ value: 7 }]);
    expect(second.ownerUrl).toBe(first.ownerUrl);
  });

  it('refuses a wrong password on its socket', async () => {
    const server = await start();
    const wrong = server.ownerUrl.replace(server.passwordFor('owner'), 'wrong');
    await expect(query(wrong, 'SELECT 1')).rejects.toMatchObject({ code: '28P01' });
  });

  it('is found by another program only while it runs', async () => {
    const dataDir = join(root, 'data');
    expect(readEmbeddedConnection(dataDir)).toBeUndefined();
    const server = await start(dataDir);
    expect(readEmbeddedConnection(dataDir)?.urlFor('billing')).toBe(server.urlFor('billing'));
    await server.stop();
    expect(readEmbeddedConnection(dataDir)).toBeUndefined();
  });

  it('recovers everything that was committed before its server was killed', async () => {
    const server = await start();
    const firstPid = server.pid;
    await query(server.ownerUrl, 'CREATE TABLE kept AS SELECT 1 AS value');
    process.kill(firstPid, 'SIGKILL');
    await until(() => server.pid !== firstPid && canConnect(server.ownerUrl));
    expect(await query(server.ownerUrl, 'SELECT value FROM kept')).toEqual([{ value: 1 }]);
  });

  it('is waited for while it recovers, however long that takes', async () => {
    await (await start()).stop();
    const signal = join(root, 'data', 'pgdata', 'recovery.signal');
    writeFileSync(signal, '');
    chmodSync(signal, 0o666);
    // Recovery asks for the write-ahead log and gets none, after longer than a start may take otherwise.
    const restore = 'case %f in *.history) exit 1;; esac; sleep 7; exit 1';
    const settings = { restore_command: restore, hot_standby: 'off' };
    const lines: string[] = [];
    const reporting = pino({}, { write: (line) => lines.push(line) });
    const server = await start(join(root, 'data'), { settings, readyMs: 6_000, log: reporting });
    expect(await canConnect(server.ownerUrl)).toBe(true);
    expect(lines.filter((line) => line.includes('recovers'))).toEqual([
      expect.stringContaining(join(root, 'data', 'server.log')),
    ]);
  });

  it('works if folder names are too long for a socket and closed to the server’s account', async () => {
    const closed = join(root, 'x'.repeat(60), 'y'.repeat(60));
    mkdirSync(closed, { recursive: true });
    chmodSync(root, 0o700);
    const server = await start(join(closed, 'data'));
    expect(await canConnect(server.ownerUrl)).toBe(true);
    const { socketDir } = server;
    await server.stop();
    expect(existsSync(socketDir)).toBe(false);
    const again = await start(join(closed, 'data'));
    expect(await canConnect(again.ownerUrl)).toBe(true);
  });
});

/** As earlier versions left it: the owner is the server's first superuser, and there is no admin. */
async function makeOld(server: EmbeddedPostgres, left = ''): Promise<void> {
  const passwordsFile = join(root, 'data', 'passwords.json');
  const { admin: _admin, ...passwords } = JSON.parse(readFileSync(passwordsFile, 'utf8')) as Record<
    string,
    string
  >;
  const template = server.urlFor('admin').replace(/[^/]+$/, 'template1');
  await query(template, `CREATE ROLE helper SUPERUSER LOGIN PASSWORD 'helper'`);
  const helper = template.replace(/\/\/[^@]+@/, '//helper:helper@');
  await query(helper, 'DROP DATABASE tollgate');
  await query(
    helper,
    `DROP ROLE tollgate_owner, tollgate_gateway, tollgate_worker, tollgate_billing;
     ALTER ROLE tollgate_admin RENAME TO tollgate_owner; ALTER ROLE tollgate_owner PASSWORD '${passwords['owner']}'`,
  );
  await query(template.replace(/\/\/[^@]+@/, `//tollgate_owner:${passwords['owner']}@`), 'DROP ROLE helper');
  await query(server.ownerUrl.replace(/[^/]+$/, 'template1'), 'CREATE DATABASE tollgate');
  await query(
    server.ownerUrl,
    `CREATE ROLE tollgate_gateway LOGIN; CREATE TABLE kept (id bigint GENERATED ALWAYS AS IDENTITY, value int);
     INSERT INTO kept (value) VALUES (7); GRANT SELECT (value) ON kept TO tollgate_gateway;
     CREATE VIEW seen AS SELECT value FROM kept; CREATE SEQUENCE counted;
     CREATE FUNCTION kept_value() RETURNS int LANGUAGE sql AS 'SELECT value FROM kept'; ${left}`,
  );
  await server.stop();
  writeFileSync(passwordsFile, JSON.stringify(passwords));
}

const OWNERS_SQL = `SELECT relname AS name, relowner::regrole::text AS owner FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'v', 'S')
  UNION ALL SELECT proname, proowner::regrole::text FROM pg_proc WHERE pronamespace = 'public'::regnamespace
  UNION ALL SELECT datname, datdba::regrole::text FROM pg_database WHERE datname = 'tollgate' ORDER BY 1`;

describe('the owner of the database', () => {
  it('is not a superuser', async () => {
    const server = await start();
    const rights = `SELECT rolsuper, rolcreaterole, rolcreatedb FROM pg_roles WHERE rolname = current_user`;
    expect(await query(server.ownerUrl, rights)).toEqual([
      { rolsuper: false, rolcreaterole: false, rolcreatedb: false },
    ]);
  });

  it('stops being one in a folder of an earlier version, and keeps everything else', async () => {
    await makeOld(await start());
    const server = await start();
    const names = ['counted', 'kept', 'kept_id_seq', 'kept_value', 'seen', 'tollgate'];
    expect(await query(server.ownerUrl, OWNERS_SQL)).toEqual(
      names.map((name) => ({ name, owner: 'tollgate_owner' })),
    );
    expect(await query(server.ownerUrl, 'SELECT value FROM seen')).toEqual([{ value: 7 }]);
    expect(await query(server.urlFor('gateway'), 'SELECT value FROM kept')).toEqual([{ value: 7 }]);
    const superusers = `SELECT rolname FROM pg_roles WHERE rolsuper`;
    expect(await query(server.ownerUrl, superusers)).toEqual([{ rolname: 'tollgate_admin' }]);
  });

  it('stops being one even if an earlier attempt was interrupted', async () => {
    await makeOld(await start(), 'CREATE ROLE tollgate_upgrade SUPERUSER');
    const server = await start();
    expect(await query(server.ownerUrl, 'SELECT value FROM seen')).toEqual([{ value: 7 }]);
    const superusers = `SELECT rolname FROM pg_roles WHERE rolsuper`;
    expect(await query(server.ownerUrl, superusers)).toEqual([{ rolname: 'tollgate_admin' }]);
  });
});

describe('a data folder', () => {
  it('belongs to one live program at a time', async () => {
    const server = await start();
    await expect(start()).rejects.toThrow(
      `The data folder ${join(root, 'data')} is in use by another Tollgate (process ${process.pid}): stop it first, or choose another DATA_DIR.`,
    );
    expect(await canConnect(server.ownerUrl)).toBe(true);
  });

  it.each(['data', 'moved'])(
    'is taken over from a killed program, whose server is stopped first: %s',
    async (name) => {
      const first = await start();
      const { socketDir } = first;
      await first.stop();
      const pgdata = join(root, 'data', 'pgdata');
      const account = serverAccountFor(pgdata);
      mkdirSync(socketDir);
      chmodSync(socketDir, 0o777);
      const leftover = spawn(
        join(findPostgres(account).bin, 'postgres'),
        ['-D', pgdata, '-k', socketDir, '-h', ''],
        {
          ...runAs(account),
          stdio: 'ignore',
        },
      );
      await until(() => canConnect(first.ownerUrl));
      const identity = identifyProcess(leftover.pid!)!;
      const dead = spawnSync('true').pid;
      writeFileSync(join(root, 'data', 'owner.lock'), JSON.stringify({ pid: dead, startedAt: '1' }));
      writeFileSync(join(root, 'data', 'server.json'), JSON.stringify({ pid: leftover.pid, socketDir }));
      renameSync(join(root, 'data'), join(root, name));
      expect(readEmbeddedConnection(join(root, name)) !== undefined).toBe(name === 'data');

      const second = await start(join(root, name));
      expect(isRunning(identity)).toBe(false);
      expect(second.pid).not.toBe(leftover.pid);
      expect(await canConnect(second.ownerUrl)).toBe(true);
    },
  );

  it('is not taken over if the pid file names an unrelated process', async () => {
    await (await start()).stop();
    const stranger = spawn('sleep', ['60'], { stdio: 'ignore' });
    const pidFile = join(root, 'data', 'pgdata', 'postmaster.pid');
    writeFileSync(pidFile, `${stranger.pid}\n`);
    expect(readEmbeddedConnection(join(root, 'data'))).toBeUndefined();
    const server = await start();
    expect(await canConnect(server.ownerUrl)).toBe(true);
    expect(stranger.exitCode ?? stranger.signalCode).toBeNull();
    stranger.kill();
  });

  it('of a newer version gets one clear sentence, and stays unchanged', async () => {
    await (await start()).stop();
    const versionFile = join(root, 'data', 'pgdata', 'PG_VERSION');
    writeFileSync(versionFile, '99\n');
    await expect(start()).rejects.toThrow(
      /written by PostgreSQL 99, a newer version than the \d+ found here/,
    );
    await expect(start()).rejects.toThrow(/written by PostgreSQL 99/);
    expect(readFileSync(versionFile, 'utf8')).toBe('99\n');
  });

  it('that cannot be written gets one clear sentence', async () => {
    writeFileSync(join(root, 'file'), '');
    await expect(start(join(root, 'file', 'data'))).rejects.toThrow(
      /Cannot write to the data folder .*: ENOTDIR/,
    );
  });
});
