import { generateKeyPairSync, randomBytes } from 'node:crypto';
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { OperatorError } from '#platform/errors.js';
import { projectFolder } from '#platform/places.js';
import { newSecretsKey } from '#platform/sealed-secret.js';

/** The folder in DATA_DIR, otherwise `.data` in the project, wherever the command was started. */
export function dataFolder(env: NodeJS.ProcessEnv) {
  const root = resolve(env['DATA_DIR'] || join(projectFolder, '.data'));
  return {
    root,
    database: join(root, 'database'),
    /** Finished images and videos. */
    files: join(root, 'files'),
    /** Mail to people, one file each, if no mail server is configured. */
    mail: join(root, 'mail'),
    /** The state of the sandbox upstream. */
    sandbox: join(root, 'sandbox'),
    secretsFile: join(root, 'secrets.json'),
    /** The key that encrypts secrets in the database, unless SECRETS_KEY is set. */
    secretsKeyFile: join(root, 'secrets.key'),
    /** The key that signs heads of the ledger chain, unless CHAIN_SIGNING_KEY is set. */
    chainKeyFile: join(root, 'chain-signing.key'),
    demoFile: join(root, 'demo-account.json'),
    /** The address of the running relay. It exists only while the relay runs, or after it was killed. */
    relayFile: join(root, 'relay.json'),
  };
}

export type DataFolder = Readonly<ReturnType<typeof dataFolder>>;

/** Creates the folder, or says in one sentence why it cannot be used. @throws OperatorError */
export function prepareDataFolder(folder: DataFolder): void {
  try {
    mkdirSync(folder.root, { recursive: true, mode: 0o755 });
    accessSync(folder.root, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code ?? (error as Error).message;
    throw new OperatorError(
      `Cannot write to the data folder ${folder.root} (${why}): choose another DATA_DIR.`,
    );
  }
}

export interface RelaySecrets {
  readonly urlSigningSecret: string;
  /** Shared by the relay and its sandbox upstream. */
  readonly sandboxApiKey: string;
}

/** The secrets of this installation, created once and readable only by its user. */
export function readOrMakeSecrets(folder: DataFolder): RelaySecrets {
  const existing = readPrivateJson<RelaySecrets>(folder.secretsFile);
  if (existing) return existing;
  const made = { urlSigningSecret: randomSecret(), sandboxApiKey: randomSecret() };
  writePrivateJson(folder.secretsFile, made);
  return made;
}

/** The key of this installation as programs read it: from the environment, otherwise from the folder, created once. */
export function secretsKeyEnvironment(folder: DataFolder, env: NodeJS.ProcessEnv): Record<string, string> {
  if (env['SECRETS_KEY'] || env['SECRETS_KEY_FILE']) return {};
  if (!existsSync(folder.secretsKeyFile)) writePrivateText(folder.secretsKeyFile, newSecretsKey());
  return { SECRETS_KEY_FILE: folder.secretsKeyFile };
}

/** The same for the signing key. Its public part is beside it in chain-signing.pub: keep a copy elsewhere. */
export function chainKeyEnvironment(folder: DataFolder, env: NodeJS.ProcessEnv): Record<string, string> {
  if (env['CHAIN_SIGNING_KEY'] || env['CHAIN_SIGNING_KEY_FILE']) return {};
  if (!existsSync(folder.chainKeyFile)) {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const publicText = publicKey.export({ type: 'spki', format: 'pem' }).toString();
    writePrivateText(folder.chainKeyFile.replace(/key$/, 'pub'), publicText.trim());
    const text = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    writePrivateText(folder.chainKeyFile, text.trim());
  }
  return { CHAIN_SIGNING_KEY_FILE: folder.chainKeyFile };
}

function randomSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** Reads a file of ours; undefined if it does not exist. @throws OperatorError if it cannot be read */
export function readPrivateJson<T>(file: string): T | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new OperatorError(`${file} cannot be read: ${(error as Error).message}.`);
  }
}

export function writePrivateJson(file: string, value: object): void {
  writePrivateText(file, JSON.stringify(value));
}

/** Writes a secret to the disk under another name and renames it, so that a killed process leaves the whole file or none. */
export function writePrivateText(file: string, text: string): void {
  const draft = `${file}.new`;
  const descriptor = openSync(draft, 'w', 0o600);
  writeSync(descriptor, `${text}\n`);
  fsyncSync(descriptor);
  closeSync(descriptor);
  renameSync(draft, file);
}

export interface RelayRecord {
  readonly pid: number;
  readonly baseUrl: string;
  readonly consoleUrl: string;
}

/** The relay that runs on this folder, if its process exists and its address answers; otherwise undefined. */
export async function findRunningRelay(folder: DataFolder): Promise<RelayRecord | undefined> {
  const record = readPrivateJson<RelayRecord>(folder.relayFile);
  if (!record) return undefined;
  try {
    process.kill(record.pid, 0);
    await fetch(`${record.baseUrl}/v1/models`, { signal: AbortSignal.timeout(ANSWER_LIMIT_MS) });
    return record;
  } catch {
    return undefined;
  }
}

const ANSWER_LIMIT_MS = 2_000;
