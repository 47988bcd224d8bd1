import type { ConfigReader } from '#platform/config.js';
import type { FileStore } from './file-store.js';
import { FolderStore } from './folder.store.js';
import { type S3Options, S3Store } from './s3.store.js';

export type StorageConfig = { kind: 'file'; folder: string } | ({ kind: 's3' } & S3Options);

/**
 * Reads where finished files go: STORAGE and STORAGE_DIR or S3_*. Faults are told by the reader's `finish`.
 * @param folder in place of STORAGE_DIR, for a program that has a folder of its own.
 */
export function readStorageConfig(reader: ConfigReader, folder?: string): StorageConfig {
  if (reader.choice('STORAGE', ['file', 's3'], 'file') === 'file') {
    return { kind: 'file', folder: folder ?? reader.string('STORAGE_DIR') };
  }
  const endpoint = reader.optionalString('S3_ENDPOINT') && reader.url('S3_ENDPOINT');
  return {
    kind: 's3',
    endpoint,
    bucket: reader.string('S3_BUCKET'),
    region: reader.string('S3_REGION', 'us-east-1'),
    accessKeyId: reader.secret('S3_ACCESS_KEY_ID'),
    secretAccessKey: reader.secret('S3_SECRET_ACCESS_KEY'),
    // Amazon wants the bucket in the host name, the stores that people run themselves in the path.
    forcePathStyle: reader.boolean('S3_FORCE_PATH_STYLE', endpoint !== undefined),
  };
}

export function openStorage(config: StorageConfig): FileStore {
  return config.kind === 'file' ? new FolderStore(config.folder) : new S3Store(config);
}
