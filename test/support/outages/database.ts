import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '#database/embedded-postgres.js';
import { createLogger } from '#platform/logging.js';
import { endWithThisProcess } from '../children.js';
import type { Environment } from '../programs.js';
import { socketOf, TcpSwitch } from '../tcp-switch.js';
import type { Undo } from './undo.js';

/** Enough for all programs together and for the checks. */
const SETTINGS = { max_connections: 150 };

export interface SwitchedDatabase {
  server: EmbeddedPostgres;
  way: TcpSwitch;
  env: Environment;
}

/** A database server that programs reach through a switch. */
export async function startDatabase(
  undo: Undo,
  parent: string,
  more: Readonly<Record<string, string | number>> = {},
): Promise<SwitchedDatabase> {
  const dataDir = mkdtempSync(join(parent, 'tollgate-database-'));
  undo.add(async () => rmSync(dataDir, { recursive: true, force: true }));
  // Started by root, the server runs as a different user.
  chmodSync(dataDir, 0o755);
  const log = createLogger('database', 'silent');
  let lift = async () => {};
  const onStart = (pid: number) => {
    void lift();
    lift = endWithThisProcess(pid, 'QUIT');
  };
  const server = await undo.during(
    () => startEmbeddedPostgres({ dataDir, log, settings: { ...SETTINGS, ...more }, onStart }),
    (started) => started.stop(),
  );
  undo.add(() => lift());
  const way = await undo.during(
    () => TcpSwitch.open(socketOf(server.ownerUrl)),
    (opened) => opened.close(),
  );
  const [DATABASE_URL, ADMIN_DATABASE_URL] = [way.urlOf(server.ownerUrl), way.urlOf(server.urlFor('admin'))];
  return { server, way, env: { DATABASE_URL, ADMIN_DATABASE_URL } };
}
