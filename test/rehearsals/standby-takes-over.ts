import { tmpdir } from 'node:os';
import { builtInSettings } from '#database/server-settings.js';
import { asLogin } from '../support/database.js';
import { until } from '../support/eventually.js';
import { type Standby, startStandby } from '../support/standby.js';
import { socketOf } from '../support/tcp-switch.js';
import { type SwitchedDatabase, startDatabase } from '../support/outages/database.js';
import type { Rehearsal } from './rehearsal.js';

const NAME = 'standby';

/** Every commit waits for the standby, so answered calls are safe even if the primary is lost. */
export const standbyTakesOver: Rehearsal = {
  name: 'standby',
  fault: 'PostgreSQL killed, its synchronous standby promoted',
  isQuick: true,
  prepare: async (undo) => {
    const database = await startDatabase(undo, tmpdir());
    const { server, env } = database;
    const adminUrl = server.urlFor('admin');
    const settings = { ...builtInSettings, max_connections: 150 };
    const standby = await undo.during(
      () => startStandby({ adminUrl, name: NAME, settings }),
      (started) => started.stop(),
    );
    await requireStandby(adminUrl);
    return { env, hurt: () => failOver(database, standby) };
  },
};

async function requireStandby(adminUrl: string): Promise<void> {
  await asLogin(adminUrl, async (admin) => {
    await admin.query(`ALTER SYSTEM SET synchronous_standby_names = '${NAME}'`);
    await admin.query('SELECT pg_reload_conf()');
    await until('the standby to be waited for', async () => {
      const { rows } = await admin.query<{ state: string }>(
        'SELECT sync_state AS state FROM pg_stat_replication',
      );
      return rows[0]?.state === 'sync';
    });
  });
}

/** Acts like an operator: the old primary must be unreachable before another one may write. */
async function failOver({ server, way }: SwitchedDatabase, standby: Standby): Promise<number> {
  process.kill(server.pid, 'SIGKILL');
  const killedAt = performance.now();
  // Nothing starts it again.
  const stopped = server.stop();
  await standby.ask('SELECT pg_promote()');
  way.lead(socketOf(standby.urlOf(server.ownerUrl)));
  await stopped;
  return killedAt;
}
