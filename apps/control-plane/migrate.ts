import { operatorSentence } from '#database/operator-sentence.js';
import { readAlone } from '#platform/config.js';
import { helpOf } from '#platform/settings/help.js';
import { readDatabaseSetup, setUpDatabase } from '#operations/database.setup.js';

const ABOUT =
  "Brings the database up to date, then ends: schema, passwords of the programs' roles, secrets sealed, first catalog.";

async function main(): Promise<void> {
  if (process.argv.includes('--help')) {
    const usage = 'node dist/apps/control-plane/migrate.js [--help]';
    process.stdout.write(helpOf({ about: ABOUT, usage, read: readDatabaseSetup }));
    return;
  }
  const applied = await setUpDatabase(readAlone(process.env, readDatabaseSetup));
  process.stdout.write(`${JSON.stringify({ migrated: applied })}\n`);
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${operatorSentence(error) ?? (error as Error).stack}\n`);
  process.exitCode = 1;
}
