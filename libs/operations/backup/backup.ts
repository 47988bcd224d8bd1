import { OperatorError } from '#platform/errors.js';
import { FileMissing, type FileStore } from '#storage/file-store.js';
import { type ArchiveWriter, writeArchive } from './archive.js';
import { type BackupManifest, fileMember, secretMember, unknownMigrations } from './contents.js';
import { dumpEnding, dumpTables, openSnapshot } from './dump.js';
import { connected } from './scratch-database.js';

export interface BackupSource {
  ownerUrl: string;
  /** The finished files; null leaves them out. */
  storage: FileStore | null;
  /** Keys and secrets of this installation that the data depends on, by name. */
  secrets: ReadonlyMap<string, string>;
}

export interface BackupTarget {
  file: string;
  passphrase: string;
  /** Whether this version will restore it, to prove it. */
  willBeProved: boolean;
  /** Receives the bytes of rows and files written so far. If it throws, the work ends. */
  onProgress: (bytes: number) => void;
}

export interface BackupSummary {
  takenAt: string;
  head: BackupManifest['head'];
  rows: number;
  files: number;
  bytes: number;
}

/**
 * Writes a backup of a database that may be in use: every row of one snapshot, then the existing files, and the
 * secrets. Files are stored before the rows that name them, so each file in the snapshot exists unless it has expired.
 * @throws OperatorError, or the errors of the database and the store. No file is left then.
 */
export async function writeBackup(source: BackupSource, target: BackupTarget): Promise<BackupSummary> {
  return connected(source.ownerUrl, async (client) => {
    const manifest = await openSnapshot(client);
    if (target.willBeProved) refuseUnprovable(manifest);
    let [progress, rowCount, files] = [0, 0, 0];
    const onBytes = (bytes: number) => target.onProgress((progress += bytes));
    const { bytes } = await writeArchive(target.file, target.passphrase, async (archive) => {
      const rows = await dumpTables(client, manifest, { archive, onBytes });
      for (const [name, secret] of source.secrets) await archive.add(secretMember(name), secret);
      if (source.storage) files = await addFiles(archive, source.storage, onBytes);
      await dumpEnding(client, archive, { rows, files });
      rowCount = Object.values(rows).reduce((sum, count) => sum + count, 0);
    });
    return { takenAt: manifest.takenAt, head: manifest.head, rows: rowCount, files, bytes };
  });
}

/** Before hours of writing. */
function refuseUnprovable(manifest: BackupManifest): void {
  const unknown = unknownMigrations(manifest);
  if (unknown === undefined) return;
  throw new OperatorError(
    `Nothing was written: the database has the migration ${unknown}, which this version of Tollgate does not have, so it can write a backup but not prove it. Back up with --no-verify, and prove the file with \`restore --check\` in the version that has the migration.`,
  );
}

async function addFiles(
  archive: ArchiveWriter,
  storage: FileStore,
  onBytes: (bytes: number) => void,
): Promise<number> {
  let files = 0;
  for await (const key of storage.keys()) {
    const found = await storage.stat(key);
    if (!found) continue;
    try {
      await archive.addStream(fileMember(key), found.bytes, await storage.open(key));
    } catch (error) {
      // It expired between the two.
      if (error instanceof FileMissing) continue;
      throw error;
    }
    onBytes(found.bytes);
    files += 1;
  }
  return files;
}
