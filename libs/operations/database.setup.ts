import { configureSandboxChannel, seedCatalog, seedSandboxCosts } from '#catalog/catalog.seed.js';
import { inTransaction, openPool } from '#database/database.js';
import { migrate, type MigrateOptions } from '#database/migrations.js';
import { prepareDatabase } from '#database/prepare-database.js';
import type { ConfigReader } from '#platform/config.js';
import { readSecrets, type SecretBox } from '#platform/sealed-secret.js';
import { refuseUnreadable, resealSecrets } from './reseal.js';

export interface DatabaseSetup {
  /** A superuser's login, to create the roles and the database. Without it, they must exist. */
  adminUrl?: string | undefined;
  ownerUrl: string;
  passwords?: MigrateOptions['passwords'];
  /** Seals stored secrets. Without it, they stay as they are. */
  secrets?: SecretBox | undefined;
  /** Points the sandbox channel at a sandbox upstream. */
  sandbox?: { baseUrl: string; apiKey: string } | undefined;
}

/**
 * Brings a database to the state that programs expect: schema, passwords of their roles, and a first catalog if it has
 * none. Safe to repeat, and to run concurrently.
 * @returns the migrations applied now
 * @throws OperatorError if the database is newer than this code
 */
export async function setUpDatabase(setup: DatabaseSetup): Promise<string[]> {
  const { ownerUrl, sandbox, secrets } = setup;
  const applied = await prepareAndMigrate(setup);
  const pool = openPool({ url: ownerUrl, max: 1, applicationName: 'tollgate-setup' });
  try {
    await inTransaction(pool, async (client) => {
      // If two set up an empty database at once, the second waits and finds the catalog.
      await client.query('SELECT pg_advisory_xact_lock(catalog_lock_key())');
      await seedCatalog(client);
      if (!sandbox) return;
      await configureSandboxChannel(client, sandbox, secrets);
      await seedSandboxCosts(client);
    });
    if (secrets) refuseUnreadable(await resealSecrets(pool, secrets));
  } finally {
    await pool.end();
  }
  return applied;
}

/** Whether no call can be served yet: a new database has models and prices, but no channels that serve them. */
export async function lacksChannels(ownerUrl: string): Promise<boolean> {
  const pool = openPool({ url: ownerUrl, max: 1, applicationName: 'tollgate-setup' });
  try {
    const { rowCount } = await pool.query('SELECT FROM channels WHERE enabled LIMIT 1');
    return rowCount === 0;
  } finally {
    await pool.end();
  }
}

async function prepareAndMigrate({ adminUrl, ownerUrl, passwords = {} }: DatabaseSetup): Promise<string[]> {
  if (!adminUrl) return migrate({ ownerUrl, passwords });
  const { password, pathname } = new URL(ownerUrl);
  await prepareDatabase({
    adminUrl,
    database: decodeURIComponent(pathname.slice(1)),
    passwords: { ...passwords, owner: decodeURIComponent(password) },
  });
  return migrate({ ownerUrl });
}

/** Reads what to set up. The caller finishes the reader. */
export function readDatabaseSetup(reader: ConfigReader): DatabaseSetup {
  const [baseUrl, apiKey] = [reader.get('SANDBOX_URL'), reader.get('SANDBOX_API_KEY')];
  return {
    adminUrl: reader.get('ADMIN_DATABASE_URL'),
    ownerUrl: reader.get('OWNER_DATABASE_URL'),
    secrets: readSecrets(reader),
    passwords: {
      gateway: reader.get('GATEWAY_DATABASE_PASSWORD'),
      worker: reader.get('WORKER_DATABASE_PASSWORD'),
      billing: reader.get('BILLING_DATABASE_PASSWORD'),
    },
    sandbox: baseUrl ? { baseUrl, apiKey: apiKey ?? reader.required('SANDBOX_API_KEY') } : undefined,
  };
}
