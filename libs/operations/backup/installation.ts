import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ConfigReader, readAlone } from '#platform/config.js';
import type { FileStore } from '#storage/file-store.js';
import { openStorage, readStorageConfig } from '#storage/storage.config.js';
import { type DataFolder, dataFolder, writePrivateText } from '../data-folder.js';

/** The settings that the data depends on. */
const VARIABLES = ['SECRETS_KEY', 'CHAIN_SIGNING_KEY', 'URL_SIGNING_SECRET', 'CONSOLE_GRANT_SECRET'] as const;

/** Reads the passphrase of backups. The caller finishes the reader. */
export function readPassphrase(reader: ConfigReader): string {
  return reader.get('BACKUP_PASSPHRASE');
}

/** Whether the database is a separate server, and not the embedded one of the data folder. */
export function isDistributed(env: NodeJS.ProcessEnv): boolean {
  return ['DATABASE_URL', 'OWNER_DATABASE_URL'].some((name) => env[name] || env[`${name}_FILE`]);
}

/** The secrets of an installation, by name: from the environment and from its data folder. */
export function collectSecrets(env: NodeJS.ProcessEnv): Map<string, string> {
  const secrets = new Map<string, string>();
  if (!isDistributed(env)) {
    for (const [name, file] of secretFiles(dataFolder(env))) {
      if (existsSync(file)) secrets.set(name, readFileSync(file, 'utf8').trim());
    }
  }
  for (const name of VARIABLES) {
    if (env[name] || env[`${name}_FILE`])
      secrets.set(
        name,
        readAlone(env, (reader) => reader.get(name) ?? ''),
      );
  }
  return secrets;
}

export function keepInDataFolder(folder: DataFolder, secrets: ReadonlyMap<string, string>): void {
  for (const [name, file] of secretFiles(folder)) {
    const text = secrets.get(name);
    if (text !== undefined) writePrivateText(file, text);
  }
}

/** Stores each secret in a file with its name, for NAME_FILE. */
export function keepAsFiles(folder: string, secrets: ReadonlyMap<string, string>): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const [name, text] of secrets) writePrivateText(join(folder, name), text);
}

function secretFiles(folder: DataFolder): [name: string, file: string][] {
  return [
    ['SECRETS_KEY', folder.secretsKeyFile],
    ['CHAIN_SIGNING_KEY', folder.chainKeyFile],
    ['chain-signing.pub', folder.chainKeyFile.replace(/key$/, 'pub')],
    ['secrets.json', folder.secretsFile],
    ['demo-account.json', folder.demoFile],
  ];
}

export function openFiles(env: NodeJS.ProcessEnv): FileStore {
  const folder = isDistributed(env) ? undefined : env['STORAGE_DIR'] || dataFolder(env).files;
  return openStorage(readAlone(env, (reader) => readStorageConfig(reader, folder)));
}
