import type pg from 'pg';
import { asLogin, askForCluster } from './database.js';
import { until } from './eventually.js';
import { type Standby, startStandby } from './standby.js';

/** A hot standby that streams from the test cluster. */
export interface Replica extends Pick<Standby, 'urlOf' | 'stop'> {
  /** Commits no longer arrive from now on. */
  pause(): Promise<void>;
  resume(): Promise<void>;
}

const SLOT = 'test_replica';
const SETTINGS = { max_connections: 300, shared_buffers: '64MB', fsync: 'off' };

export async function startReplica(): Promise<Replica> {
  const { adminUrl } = await askForCluster();
  const standby = await startStandby({ adminUrl, name: SLOT, settings: SETTINGS });
  let stopped: Promise<void> | undefined;
  const stop = async () => {
    await standby.stop();
    await until('the standby to be forgotten', () => asLogin(adminUrl, dropSlot));
  };
  return {
    urlOf: (url) => standby.urlOf(url),
    pause: () => standby.ask('SELECT pg_wal_replay_pause()'),
    resume: () => standby.ask('SELECT pg_wal_replay_resume()'),
    stop: () => (stopped ??= stop()),
  };
}

/** False while the standby still uses it. */
async function dropSlot(admin: pg.Client): Promise<boolean> {
  const { rows } = await admin.query<{ active: boolean }>(
    'SELECT active FROM pg_replication_slots WHERE slot_name = $1',
    [SLOT],
  );
  if (rows[0]?.active) return false;
  await admin.query('SELECT pg_drop_replication_slot($1)', [SLOT]);
  return true;
}
