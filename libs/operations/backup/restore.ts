import type { KeyObject } from 'node:crypto';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type pg from 'pg';
import { openPool } from '#database/database.js';
import { migrate } from '#database/migrations.js';
import { type ChainVerification, verifyChain } from '#ledger/chain/chain-verify.js';
import { checkLedger, type LedgerCheckResult } from '#ledger/checks/ledger-check.js';
import { readAlone } from '#platform/config.js';
import { OperatorError } from '#platform/errors.js';
import { readSecrets, type SecretBox } from '#platform/sealed-secret.js';
import type { FileStore } from '#storage/file-store.js';
import { setUpDatabase } from '../database.setup.js';
import { readArchive } from './archive.js';
import {
  type BackupEnding,
  type BackupManifest,
  type Member,
  memberOf,
  parseEnding,
  parseManifest,
  unknownMigrations,
} from './contents.js';
import { TableLoader } from './load.js';
import { connected, requireEmpty, type RestoreLogins, ScratchDatabase } from './scratch-database.js';

export interface RestoreSource {
  file: string;
  passphrase: string;
  /** Receives the bytes of rows and files read so far. If it throws, the work ends. */
  onProgress: (bytes: number) => void;
  /** A hash that was stored elsewhere, hex. The restored chain must contain it. */
  expectedHead?: string | undefined;
  /** The newest block must be signed with it. */
  publicKey?: KeyObject | undefined;
}

export interface RestoreTarget extends RestoreLogins {
  storage: FileStore | null;
  /** Stores what the data depends on, by name. */
  keepSecrets: (secrets: ReadonlyMap<string, string>) => void;
  /** Continues even if the books of the backup do not agree. */
  despiteFindings: boolean;
}

export interface RestoreSummary {
  takenAt: string;
  head: BackupManifest['head'];
  rows: number;
  files: number;
  ledger: LedgerCheckResult;
  chain: ChainVerification;
  /** The restored database now has the name that programs use. */
  isInPlace: boolean;
}

/** The books of the restored database agree. */
export function isSound({ ledger, chain }: RestoreSummary): boolean {
  return ledger.ok && chain.ok;
}

const LONGEST_FILE_BYTES = 64 * 1024 ** 3;
/** Work in progress in the snapshot is no fault of the books. */
const GRACE_MS = 10 * 365 * 86_400_000;

/**
 * Proves that a backup can be restored: its database is created beside the real one, checked, and dropped. Files are
 * read.
 * @throws OperatorError if it is incomplete
 */
export async function verifyBackup(source: RestoreSource, logins: RestoreLogins): Promise<RestoreSummary> {
  return onScratch(logins, async (scratch) => new Restore(source, scratch).run());
}

/**
 * Restores a backup into a database that is missing or empty, a store and a place for secrets. The database gets its
 * name last, when everything is restored and its books agree.
 * @throws OperatorError if the target is not empty, or the backup is incomplete
 */
export async function restoreBackup(source: RestoreSource, target: RestoreTarget): Promise<RestoreSummary> {
  await requireEmpty(target);
  return onScratch(target, async (scratch) => {
    const restore = new Restore(source, scratch, target.storage);
    const summary = await restore.run();
    if (!isSound(summary) && !target.despiteFindings) return summary;
    target.keepSecrets(restore.secrets);
    await scratch.takePlace();
    return { ...summary, isInPlace: true };
  });
}

async function onScratch<T>(
  logins: RestoreLogins,
  work: (scratch: ScratchDatabase) => Promise<T>,
): Promise<T> {
  const scratch = await ScratchDatabase.make(logins);
  try {
    return await work(scratch);
  } finally {
    // Under its new name, it is no longer found here.
    await scratch.drop();
  }
}

/** One pass over a backup into a scratch database. */
class Restore {
  readonly secrets = new Map<string, string>();
  private files = 0;
  private bytes = 0;

  constructor(
    private readonly source: RestoreSource,
    private readonly scratch: ScratchDatabase,
    private readonly storage: FileStore | null = null,
  ) {}

  async run(): Promise<RestoreSummary> {
    const { manifest, ending } = await connected(this.scratch.adminUrl, (client) => this.readAll(client));
    if (this.files !== ending.files) {
      throw new OperatorError(`The backup should have ${ending.files} files, and has ${this.files}.`);
    }
    const secrets = secretBoxOf(this.secrets);
    await setUpDatabase({ ownerUrl: this.scratch.ownerUrl, secrets });
    const proof = await this.prove(manifest);
    const rows = Object.values(ending.rows).reduce((sum, count) => sum + count, 0);
    return {
      takenAt: manifest.takenAt,
      head: manifest.head,
      rows,
      files: this.files,
      ...proof,
      isInPlace: false,
    };
  }

  private async readAll(client: pg.Client): Promise<{ manifest: BackupManifest; ending: BackupEnding }> {
    let manifest: BackupManifest | undefined;
    let ending: BackupEnding | undefined;
    let loader: TableLoader | undefined;
    for await (const { name, bytes, content } of readArchive(this.source.file, this.source.passphrase)) {
      const member = memberOf(name);
      this.source.onProgress((this.bytes += bytes));
      if (member.kind === 'manifest') {
        manifest = parseManifest(await text(content));
        await this.makeSchema(manifest);
        loader = await TableLoader.open(client, manifest);
      } else if (member.kind === 'ending') {
        ending = parseEnding(await text(content));
      } else if (member.kind === 'table' && loader) {
        await loader.add(member.table, content);
      } else {
        await this.take(member, content);
      }
    }
    if (!manifest || !loader || !ending)
      throw new OperatorError('The backup is incomplete: its end is missing.');
    await loader.finish(ending);
    return { manifest, ending };
  }

  private async take(member: Member, content: Readable): Promise<void> {
    if (member.kind === 'secret') {
      this.secrets.set(member.name, await text(content));
    } else if (member.kind === 'file') {
      this.files += 1;
      if (this.storage) await this.storage.write(member.key, content, { maxBytes: LONGEST_FILE_BYTES });
      else for await (const chunk of content) void chunk;
    }
  }

  /** The schema of the backup's time. Later migrations are applied to its rows, as in any upgrade. */
  private async makeSchema(manifest: BackupManifest): Promise<void> {
    const unknown = unknownMigrations(manifest);
    if (unknown !== undefined) {
      throw new OperatorError(
        `The backup is of a database with the migration ${unknown}, which this version of Tollgate does not have: verify and restore it with the version that has it, even if an earlier version wrote the backup after a rollback.`,
      );
    }
    await migrate({ ownerUrl: this.scratch.ownerUrl, count: manifest.migrations.length });
  }

  private async prove(manifest: BackupManifest): Promise<Pick<RestoreSummary, 'ledger' | 'chain'>> {
    const { expectedHead = manifest.head?.hash, publicKey } = this.source;
    const pool = openPool({ url: this.scratch.ownerUrl, max: 4, applicationName: 'tollgate-restore' });
    try {
      const onProgress = () => this.source.onProgress(this.bytes);
      const ledger = await checkLedger(pool, { graceMs: GRACE_MS, onProgress });
      const chain = await verifyChain(pool, {
        balances: true,
        onProgress,
        ...(expectedHead && { expectedHead }),
        ...(publicKey && { publicKey }),
      });
      if (chain.head?.hash === manifest.head?.hash) return { ledger, chain };
      throw new OperatorError('The newest block of the restored chain is not the one named in the backup.');
    } finally {
      await pool.end();
    }
  }
}

/** Opens what is sealed in the database. Without a key in the backup, nothing is opened. */
function secretBoxOf(secrets: ReadonlyMap<string, string>): SecretBox | undefined {
  const SECRETS_KEY = secrets.get('SECRETS_KEY');
  return SECRETS_KEY === undefined ? undefined : readAlone({ SECRETS_KEY }, readSecrets);
}
