import type { Command } from 'commander';
import { refuseUnreadable, resealSecrets } from '#operations/reseal.js';
import { command } from '../command.js';
import { readSecretsOf, onDatabase } from '../database.access.js';
import { printFacts, printJson } from '../output.js';
import { showProgress } from '../progress.js';

const NOTES = `
Channel keys, webhook secrets and two-factor secrets are stored encrypted with the first key of SECRETS_KEY (or of the file
named by SECRETS_KEY_FILE; a standalone relay has one in its data folder). This command encrypts what is still stored in plain
text or with another key. It can be interrupted and repeated while programs run.

To replace the key:
  1. Give every program the new key as the second: SECRETS_KEY=old,new
  2. Then as the first:                            SECRETS_KEY=new,old
  3. Run tollgate secrets rotate with both.
  4. Then give every program only the new key:     SECRETS_KEY=new

A standalone relay: stop it, put the new key on a line before the old one in secrets.key of its data folder, and start it,
which rotates; then remove the old line. A new key: openssl rand -base64 32`;

export function secretsCommand(): Command {
  const secrets = command('secrets', 'secrets stored in the database');
  command(
    'rotate',
    'encrypt everything with the first key; exits 1 if something cannot be decrypted',
    secrets,
  )
    .addHelpText('after', NOTES)
    .action(rotate);
  return secrets;
}

async function rotate({ json }: { json?: boolean }): Promise<void> {
  const secrets = readSecretsOf(process.env);
  const done = await onDatabase((pool) =>
    resealSecrets(pool, secrets, (rows) => showProgress(`${rows} encrypted`)),
  );
  showProgress();
  if (json) printJson(done);
  else
    printFacts([
      ['Channels', String(done.channels)],
      ['Webhooks', String(done.webhooks)],
      ['Two-factor secrets', String(done.oneTimeCodes)],
    ]);
  refuseUnreadable(done);
}
