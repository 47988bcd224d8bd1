import { operatorSentence } from '#database/operator-sentence.js';
import { readAlone } from '#platform/config.js';
import { helpOf } from '#platform/settings/help.js';
import { lacksChannels, readDatabaseSetup, setUpDatabase } from '#operations/database.setup.js';

const ABOUT =
  "Updates the database, then exits: schema, passwords of the programs' roles, encrypted secrets, first catalog.";

const NO_CHANNEL = `No channel is enabled, so every call is refused with model_not_found. Add one in the console, or try the sandbox:
  SANDBOX_URL=http://sandbox:4010 docker compose --profile sandbox up
`;

async function main(): Promise<void> {
  if (process.argv.includes('--help')) {
    const usage = 'node dist/apps/control-plane/migrate.js [--help]';
    process.stdout.write(helpOf({ about: ABOUT, usage, read: readDatabaseSetup }));
    return;
  }
  const setup = readAlone(process.env, readDatabaseSetup);
  const applied = await setUpDatabase(setup);
  process.stdout.write(`${JSON.stringify({ migrated: applied })}\n`);
  if (await lacksChannels(setup.ownerUrl)) process.stderr.write(NO_CHANNEL);
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${operatorSentence(error) ?? (error as Error).stack}\n`);
  process.exitCode = 1;
}
