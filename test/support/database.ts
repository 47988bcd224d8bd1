import pg from 'pg';
import { withDatabase, withRole, type Role } from '#database/roles.js';

export interface TestDatabase {
  ownerUrl: string;
  urlFor(role: Role): string;
  /** Removes the database, ending the connections that are left. */
  drop(): Promise<void>;
}

/** What the cluster's offer answers. */
export interface ClusterAnswer {
  ownerUrl: string;
}

/** Where the specs of a run find the offer of a cluster. */
export const clusterVariable = 'TOLLGATE_TEST_CLUSTER';

/** The migrated database that each test's own is a copy of. */
export const templateDatabase = 'tollgate_template';

/** Roles belong to the whole cluster, so their passwords are the same in every test database. */
export const rolePasswords = { gateway: 'gateway-test', worker: 'worker-test', billing: 'billing-test' };

let databases = 0;

/**
 * A database of its own for a spec, migrated and otherwise as the migrations leave it; a copy takes some 40 ms.
 * Drop it in afterAll.
 */
export async function createTestDatabase(): Promise<TestDatabase> {
  const clusterUrl = await askForCluster();
  databases += 1;
  const name = `test_${process.pid}_${Date.now().toString(36)}_${databases}`;
  await asOwner(clusterUrl, `CREATE DATABASE ${name} TEMPLATE ${templateDatabase}`);
  const ownerUrl = withDatabase(clusterUrl, name);
  return {
    ownerUrl,
    urlFor: (role) => (role === 'owner' ? ownerUrl : withRole(ownerUrl, role, rolePasswords[role])),
    drop: () => asOwner(clusterUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  };
}

async function askForCluster(): Promise<string> {
  const offer = process.env[clusterVariable];
  if (!offer)
    throw new Error(
      'No cluster is offered: run the specs by Jest with the configuration of this repository.',
    );
  const response = await fetch(offer);
  if (!response.ok) throw new Error(`The test cluster did not start: ${await response.text()}`);
  return ((await response.json()) as ClusterAnswer).ownerUrl;
}

async function asOwner(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
