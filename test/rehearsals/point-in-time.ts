import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { builtInSettings } from '#database/server-settings.js';
import { databaseUrlOf, databaseName } from '#database/roles.js';
import { asLogin } from '../support/database.js';
import { until } from '../support/eventually.js';
import { copyServer, type ServerCopy, startCopy } from '../support/standby.js';
import { socketOf } from '../support/tcp-switch.js';
import { type SwitchedDatabase, startDatabase } from '../support/outages/database.js';
import type { Rehearsal } from './rehearsal.js';
import type { Undo } from '../support/outages/undo.js';

/** Calls that exist only in the archive, since they came after the base backup. */
const CALLS = 40;

/**
 * During maintenance, while the programs are kept out, someone drops a table. The server is recovered to just before.
 */
export const pointInTime: Rehearsal = {
  name: 'point-in-time',
  fault: 'a table dropped by mistake while programs were kept out, PostgreSQL recovered to just before',
  isQuick: false,
  prepare: async (undo) => {
    const archive = mkdtempSync(join(tmpdir(), 'tollgate-archive-'));
    undo.add(async () => rmSync(archive, { recursive: true, force: true }));
    // Started by root, the server writes as a different user.
    chmodSync(archive, 0o777);
    const archiving = {
      archive_mode: 'on',
      archive_command: `test ! -f ${archive}/%f && cp %p ${archive}/%f`,
    };
    const database = await startDatabase(undo, tmpdir(), archiving);
    return {
      env: database.env,
      hurt: async ({ load }) => {
        const backup = await undo.during(
          () => copyServer(database.server.urlFor('admin')),
          async ({ folder }) => rmSync(folder, { recursive: true, force: true }),
        );
        await load.ended(CALLS);
        database.way.lead({ path: join(archive, 'nothing') });
        const keptOutAt = performance.now();
        const before = await dropByMistake(database);
        await database.server.stop();
        await recover({ database, backup, archive, before, undo });
        return keptOutAt;
      },
    };
  },
};

/** @returns the moment before, by the server's clock, once its log is in the archive */
async function dropByMistake({ server }: SwitchedDatabase): Promise<string> {
  return asLogin(databaseUrlOf(server.urlFor('admin'), databaseName), async (admin) => {
    await until('programs to be gone', async () => (await admin.query(OTHERS)).rows.length === 0);
    const { rows } = await admin.query<{ before: string }>('SELECT clock_timestamp()::text AS before');
    await admin.query('DROP TABLE charges CASCADE');
    await admin.query('SELECT pg_switch_wal()');
    return rows[0]!.before;
  });
}

const OTHERS = `
SELECT pid FROM pg_stat_activity
WHERE backend_type = 'client backend' AND application_name <> 'test-books' AND pid <> pg_backend_pid()`;

interface Recovery {
  database: SwitchedDatabase;
  backup: ServerCopy;
  archive: string;
  before: string;
  undo: Undo;
}

async function recover({
  database: { server, way },
  backup,
  archive,
  before,
  undo,
}: Recovery): Promise<void> {
  const settings = {
    ...builtInSettings,
    max_connections: 150,
    restore_command: `cp ${archive}/%f %p`,
    recovery_target_time: before,
    recovery_target_inclusive: 'off',
    recovery_target_action: 'promote',
  };
  const recovered = await undo.during(
    () => startCopy(backup, { signal: 'recovery.signal', settings }),
    (started) => started.stop(),
  );
  const url = recovered.urlOf(server.urlFor('admin'));
  const isPrimary = () =>
    asLogin(url, async (admin) => {
      const { rows } = await admin.query<{ is: boolean }>('SELECT NOT pg_is_in_recovery() AS is');
      return rows[0]!.is;
    });
  await until('the server to have recovered', () => isPrimary().catch(() => false));
  way.lead(socketOf(recovered.urlOf(server.ownerUrl)));
}
