import { rmSync } from 'node:fs';
import type { KeyObject } from 'node:crypto';
import type { Command } from 'commander';
import { readEmbeddedConnection } from '#database/embedded-postgres.js';
import { writeBackup } from '#operations/backup/backup.js';
import {
  collectSecrets,
  isDistributed,
  keepAsFiles,
  keepInDataFolder,
  openFiles,
  readPassphrase,
} from '#operations/backup/installation.js';
import { isSound, restoreBackup, type RestoreSummary, verifyBackup } from '#operations/backup/restore.js';
import type { RestoreLogins } from '#operations/backup/scratch-database.js';
import { dataFolder } from '#operations/data-folder.js';
import { readAlone } from '#platform/config.js';
import { command } from '../command.js';
import { refuseWithout, withEmbedded } from '../database.access.js';
import { countOf, facts, printJson, printText } from '../output.js';
import { progressOf, showProgress } from '../progress.js';
import { interruptible } from './interruption.js';
import { hashArgument, publicKeyArgument } from './ledger-verify.command.js';

const SURROUNDINGS = `
Needs BACKUP_PASSPHRASE (or BACKUP_PASSPHRASE_FILE), and
  standalone   DATA_DIR
  distributed  OWNER_DATABASE_URL, ADMIN_DATABASE_URL, and the programs' STORAGE
               settings and secrets

Exit codes: 0 done, 1 refused or failed, 130 stopped.`;

const BACKUP_NOTES = `
A backup is one file with every row of one snapshot, the finished files, and the secrets that the data depends on, encrypted with
the passphrase. Programs may run meanwhile. To verify it, the command restores it into a temporary database, checks the ledger and the hash chain, and drops
it. The file is a tar.gz encrypted with age, so \`age --decrypt\` opens it too.
${SURROUNDINGS}

Examples:
  tollgate backup /backups/tollgate-2026-11-23.age
  tollgate backup /backups/rows.age --no-files --json`;

const RESTORE_NOTES = `
The database must not exist or must be empty: nothing is overwritten. It gets its name at the end, once it is complete and its
books agree. Except with --check, keep the programs stopped until then, and read "Restore" in docs/operating.md before you start them.
${SURROUNDINGS}

Examples:
  tollgate restore /backups/tollgate-2026-11-23.age --check
  DATA_DIR=/srv/tollgate tollgate restore /backups/tollgate-2026-11-23.age --public-key chain-signing.pub`;

interface BackupOptions {
  verify: boolean;
  files: boolean;
  json?: boolean;
}

export function backupCommand(): Command {
  return command(
    'backup',
    'write an encrypted backup of the database, files and secrets, and verify that it can be restored',
  )
    .argument('<file>', 'the file to write; it must not exist')
    .option('--no-verify', 'do not verify it by restoring it')
    .option('--no-files', 'leave out the finished files')
    .addHelpText('after', BACKUP_NOTES)
    .action(backup);
}

async function backup(file: string, { verify, files, json }: BackupOptions): Promise<void> {
  const passphrase = readAlone(process.env, readPassphrase);
  const secrets = collectSecrets(process.env);
  const storage = files ? openFiles(process.env) : null;
  const { written, proof } = await interruptible((proceed) =>
    onServer({ mustExist: true, asAdmin: verify }, async (logins) => {
      const { ownerUrl } = logins;
      const onProgress = shown('written', proceed);
      const target = { file, passphrase, willBeProved: verify, onProgress };
      const written = await writeBackup({ ownerUrl, storage, secrets }, target);
      if (!verify) return { written, proof: null };
      const source = { file, passphrase, onProgress: shown('restored to verify it', proceed) };
      return { written, proof: await prove(source, logins) };
    }),
  );
  showProgress();
  const isGood = proof === null || isSound(proof);
  if (!isGood) process.exitCode = 1;
  if (json) return printJson({ ok: isGood, file, ...written, verified: proof && proofView(proof) });
  printText(summaryOf(file, written, { secrets: secrets.size, proof }));
}

async function prove(
  source: Parameters<typeof verifyBackup>[0],
  logins: RestoreLogins,
): Promise<RestoreSummary> {
  try {
    return await verifyBackup(source, logins);
  } catch (error) {
    // A backup that was not verified must not be mistaken for one.
    rmSync(source.file, { force: true });
    throw error;
  }
}

function summaryOf(
  file: string,
  { bytes, takenAt, rows, files, head }: Awaited<ReturnType<typeof writeBackup>>,
  { secrets, proof }: { secrets: number; proof: RestoreSummary | null },
): string {
  return facts([
    ['Backup', `${file}, ${bytes} bytes`],
    ['Taken', takenAt],
    ['Contents', `${countOf(rows, 'row')}, ${countOf(files, 'file')}, ${countOf(secrets, 'secret')}`],
    ['Chain head', head ? `block ${head.number}, ${head.hash}` : 'none: no block is sealed yet'],
    ['Verified', proof === null ? 'no (--no-verify)' : proofText(proof)],
  ]);
}

interface RestoreOptions {
  check?: boolean;
  head?: string;
  publicKey?: KeyObject;
  secretsTo?: string;
  despiteFindings?: boolean;
  json?: boolean;
}

export function restoreCommand(): Command {
  return command('restore', 'restore a backup into a new or empty installation, and check its books')
    .argument('<file>', 'the backup')
    .option('--check', 'only verify that it can be restored; nothing is kept')
    .option('--head <hash>', 'the chain must contain this hash', hashArgument)
    .option('--public-key <file>', 'the newest block must be signed by this key (PEM)', publicKeyArgument)
    .option('--secrets-to <folder>', 'also write each secret of the backup to a file of its name here')
    .option('--despite-findings', 'restore it even if its books do not agree')
    .addHelpText('after', RESTORE_NOTES)
    .action(restore);
}

async function restore(file: string, options: RestoreOptions): Promise<void> {
  const passphrase = readAlone(process.env, readPassphrase);
  const { head: expectedHead, publicKey } = options;
  const summary = await interruptible((proceed) => {
    const source = { file, passphrase, expectedHead, publicKey, onProgress: shown('restored', proceed) };
    return onServer({ mustExist: false, asAdmin: true }, async (logins) => {
      if (options.check) return verifyBackup(source, logins);
      return restoreBackup(source, {
        ...logins,
        storage: openFiles(process.env),
        despiteFindings: options.despiteFindings ?? false,
        keepSecrets: (secrets) => keep(secrets, options.secretsTo),
      });
    });
  });
  showProgress();
  if (!isSound(summary)) process.exitCode = 1;
  if (options.json) return printJson(proofView(summary));
  printText(restoredText(summary));
}

function restoredText(summary: RestoreSummary): string {
  return facts([
    ['Restored', summary.isInPlace ? `the state of ${summary.takenAt}` : 'nothing was kept'],
    ['Contents', `${countOf(summary.rows, 'row')}, ${countOf(summary.files, 'file')}`],
    ['Verified', proofText(summary)],
  ]);
}

function keep(secrets: ReadonlyMap<string, string>, folder: string | undefined): void {
  if (!isDistributed(process.env)) keepInDataFolder(dataFolder(process.env), secrets);
  if (folder !== undefined) keepAsFiles(folder, secrets);
}

/** Runs work with the logins of the server that the environment names. */
async function onServer<T>(
  { mustExist, asAdmin }: { mustExist: boolean; asAdmin: boolean },
  work: (logins: RestoreLogins) => Promise<T>,
): Promise<T> {
  if (isDistributed(process.env)) {
    return work(
      readAlone(process.env, (reader) => ({
        ownerUrl: reader.get('OWNER_DATABASE_URL'),
        adminUrl: reader.get('ADMIN_DATABASE_URL') ?? (asAdmin ? reader.required('ADMIN_DATABASE_URL') : ''),
      })),
    );
  }
  const folder = dataFolder(process.env);
  if (mustExist) refuseWithout(folder);
  const running = readEmbeddedConnection(folder.database);
  if (running) return work({ ownerUrl: running.ownerUrl, adminUrl: running.urlFor('admin') });
  return withEmbedded(folder, (server) =>
    work({ ownerUrl: server.ownerUrl, adminUrl: server.urlFor('admin') }),
  );
}

function proofView(summary: RestoreSummary) {
  const { blocks, transactions, entries, findingCount, ok } = summary.chain;
  return {
    ok: isSound(summary),
    ...summary,
    chain: { ok, blocks, transactions, entries, findingCount },
  };
}

function proofText(summary: RestoreSummary): string {
  const { ledger, chain } = summary;
  if (isSound(summary)) return `yes: ledger and hash chain (${countOf(chain.blocks, 'block')}) are intact`;
  const rules = ledger.violations.map(({ message }) => message);
  return [
    'no: the books do not agree',
    ...rules,
    ...chain.findings.slice(0, 10).map(({ message }) => message),
  ].join('\n');
}

/** Counts on a terminal, and lets a signal stop the work. */
function shown(done: string, proceed: () => void): (bytes: number) => void {
  const show = progressOf((bytes) => `${Math.round(bytes / 1024 / 1024)} MB ${done}`);
  return (bytes) => {
    proceed();
    show(bytes);
  };
}
