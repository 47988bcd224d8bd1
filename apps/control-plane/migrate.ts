import { operatorSentence } from '#database/operator-sentence.js';
import { readDatabaseSetup, setUpDatabase } from '#operations/database.setup.js';

const HELP = `Brings the database up to date, then ends: schema, passwords of the programs' roles, first catalog.

Usage: node dist/apps/control-plane/migrate.js [--help]

Environment:
  OWNER_DATABASE_URL         login that owns the database: tollgate_owner, no superuser
  ADMIN_DATABASE_URL         a superuser's login, which makes the roles and the
                             database; without it the owner must be allowed to
                             create roles, or they are there
  GATEWAY_DATABASE_PASSWORD  passwords to give to the roles tollgate_gateway,
  WORKER_DATABASE_PASSWORD   tollgate_worker and tollgate_billing;
  BILLING_DATABASE_PASSWORD  a role without one keeps the one it has
  SECRETS_KEY                encrypts what is still stored plain or under
                             another key: 32 bytes in base64
  SANDBOX_URL                a sandbox upstream that serves every model, with
  SANDBOX_API_KEY            its key; without them the channels stay as they are

Exit codes: 0 done (also when there was nothing to do), 1 failed.
`;

async function main(): Promise<void> {
  if (process.argv.includes('--help')) {
    process.stdout.write(HELP);
    return;
  }
  const applied = await setUpDatabase(readDatabaseSetup(process.env));
  process.stdout.write(`${JSON.stringify({ migrated: applied })}\n`);
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${operatorSentence(error) ?? (error as Error).stack}\n`);
  process.exitCode = 1;
}
