import { resolve } from 'node:path';
import type { ConfigReader } from '#platform/config.js';
import type { Registry } from '#platform/metrics.js';
import type { FileStore } from './file-store.js';
import { FolderStore } from './folder.store.js';
import { measureSpace } from './space-metrics.js';
import { type S3Options, S3Store } from './s3.store.js';

export type StorageConfig = { kind: 'file'; folder: string } | ({ kind: 's3' } & S3Options);

/**
 * Reads where finished files are stored: STORAGE and STORAGE_DIR or S3_*. The reader's `finish` reports faults.
 * @param folder replaces STORAGE_DIR, for a program with its own folder
 */
export function readStorageConfig(reader: ConfigReader, folder?: string): StorageConfig {
  const kind = reader.get('STORAGE');
  const given = folder ?? reader.get('STORAGE_DIR');
  const s3 = readS3(reader);
  if (kind === 'file') return { kind, folder: given ?? reader.required('STORAGE_DIR') };
  return { kind, ...withLogin(reader, s3), bucket: s3.bucket ?? reader.required('S3_BUCKET') };
}

/**
 * Reads where the request log is exported to, apart from the files: REQUEST_LOG, with REQUEST_LOG_DIR or with
 * REQUEST_LOG_BUCKET in the store of S3_*. Null: nowhere.
 */
export function readRequestLogStorage(reader: ConfigReader): StorageConfig | null {
  const kind = reader.get('REQUEST_LOG');
  const folder = reader.get('REQUEST_LOG_DIR');
  const bucket = reader.get('REQUEST_LOG_BUCKET');
  const s3 = readS3(reader);
  if (kind === 'off') return null;
  if (kind === 'file') {
    const files = reader.get('STORAGE_DIR');
    if (folder !== undefined && files !== undefined && resolve(folder) === resolve(files))
      reader.fault('REQUEST_LOG_DIR', 'must be another folder than STORAGE_DIR', undefined);
    return { kind, folder: folder ?? reader.required('REQUEST_LOG_DIR') };
  }
  // As with folders: backups copy everything beside the files, and gateways may delete there.
  if (bucket !== undefined && bucket === s3.bucket)
    reader.fault('REQUEST_LOG_BUCKET', 'must be another bucket than S3_BUCKET', undefined);
  return { kind, ...withLogin(reader, s3), bucket: bucket ?? reader.required('REQUEST_LOG_BUCKET') };
}

type S3Settings = ReturnType<typeof readS3>;

function withLogin(reader: ConfigReader, s3: S3Settings) {
  return {
    ...s3,
    accessKeyId: s3.accessKeyId ?? reader.required('S3_ACCESS_KEY_ID'),
    secretAccessKey: s3.secretAccessKey ?? reader.required('S3_SECRET_ACCESS_KEY'),
  };
}

function readS3(reader: ConfigReader) {
  const endpoint = reader.get('S3_ENDPOINT');
  return {
    endpoint,
    bucket: reader.get('S3_BUCKET'),
    region: reader.get('S3_REGION'),
    accessKeyId: reader.get('S3_ACCESS_KEY_ID'),
    secretAccessKey: reader.get('S3_SECRET_ACCESS_KEY'),
    // Amazon expects the bucket in the host name, self-hosted stores expect it in the path.
    forcePathStyle: reader.get('S3_FORCE_PATH_STYLE', endpoint !== undefined),
  };
}

/** @param registry for the space of a folder; a bucket's is unknown */
export function openStorage(config: StorageConfig, registry?: Registry): FileStore {
  if (config.kind === 's3') return new S3Store(config);
  if (registry) measureSpace(registry, config.folder);
  return new FolderStore(config.folder);
}
