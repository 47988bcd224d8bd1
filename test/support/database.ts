import pg from 'pg';
import { openPool, type PoolOptions } from '#database/database.js';
import { closeDatabase } from '#database/prepare-database.js';
import { roleName, databaseUrlOf, withRole, type DatabaseRole } from '#database/roles.js';
import { LIMIT_MS } from './eventually.js';

export interface TestDatabase {
  ownerUrl: string;
  urlFor(role: DatabaseRole): string;
  /** Removes the database, ending open connections. */
  drop(): Promise<void>;
}

/** The address that the cluster setup answers with. */
export interface ClusterAnswer {
  adminUrl: string;
  ownerUrl: string;
}

/** Where the specs of a run ask for the cluster's address. */
export const clusterVariable = 'TOLLGATE_TEST_CLUSTER';

/** The migrated template that each test database is copied from. */
export const templateDatabase = 'tollgate_template';

/** Roles belong to the whole cluster, so all test databases share their passwords. */
export const rolePasswords = { gateway: 'gateway-test', worker: 'worker-test', billing: 'billing-test' };

let databases = 0;

/** A migrated database for one spec. It is a copy of a template, which takes about 20 ms. Drop it in afterAll. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const cluster = await askForCluster();
  databases += 1;
  const name = `test_${process.pid}_${Date.now().toString(36)}_${databases}`;
  await asLogin(cluster.adminUrl, async (admin) => {
    await admin.query(
      `CREATE DATABASE ${name} TEMPLATE ${templateDatabase} OWNER ${roleName('owner')} STRATEGY FILE_COPY`,
    );
    // Copying does not copy the right to connect.
    await closeDatabase(admin, name);
  });
  const ownerUrl = databaseUrlOf(cluster.ownerUrl, name);
  return {
    ownerUrl,
    urlFor: (role) => (role === 'owner' ? ownerUrl : withRole(ownerUrl, role, rolePasswords[role])),
    drop: () =>
      asLogin(cluster.adminUrl, async (admin) => {
        await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      }),
  };
}

/** For a test's own queries, which wait for a connection however busy the machine is. */
export function openPatientPool(options: PoolOptions): pg.Pool {
  return openPool({ ...options, connectTimeoutMs: LIMIT_MS });
}

/**
 * Lets tests forge what triggers refuse, and end other people's connections. In an installation, the owner may do
 * neither.
 */
export function letOwnerForge(adminUrl: string): Promise<void> {
  return asLogin(adminUrl, async (admin) => {
    await admin.query(`GRANT SET ON PARAMETER session_replication_role TO ${roleName('owner')}`);
    await admin.query(`GRANT pg_signal_backend, pg_read_all_stats TO ${roleName('owner')}`);
  });
}

/** A server that specs share. Its admin login may create databases. */
export async function askForCluster(): Promise<ClusterAnswer> {
  const offer = process.env[clusterVariable];
  if (!offer)
    throw new Error(
      'No cluster is offered: run the specs by Vitest with the configuration of this repository.',
    );
  const response = await fetch(offer);
  if (!response.ok) throw new Error(`The test cluster did not start: ${await response.text()}`);
  return (await response.json()) as ClusterAnswer;
}

/** Runs `work` on one connection with this login. */
export async function asLogin<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
