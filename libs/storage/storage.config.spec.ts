import { describe, expect, it } from 'vitest';
import { ConfigReader, readAlone } from '#platform/config.js';
import { readRequestLogStorage, readStorageConfig } from './storage.config.js';

function read(env: NodeJS.ProcessEnv, folder?: string) {
  const reader = new ConfigReader(env);
  return reader.finish(readStorageConfig(reader, folder));
}

const BUCKET = { STORAGE: 's3', S3_BUCKET: 'files', S3_ACCESS_KEY_ID: 'id', S3_SECRET_ACCESS_KEY: 'secret' };
const AMAZON = {
  kind: 's3',
  endpoint: undefined,
  bucket: 'files',
  region: 'us-east-1',
  accessKeyId: 'id',
  secretAccessKey: 'secret',
  forcePathStyle: false,
};

describe('where finished files go', () => {
  it('is a folder by default', () => {
    expect(read({ STORAGE_DIR: '/files' })).toEqual({ kind: 'file', folder: '/files' });
    expect(read({ STORAGE: 'file', STORAGE_DIR: '/files' }, '/own')).toEqual({
      kind: 'file',
      folder: '/own',
    });
    expect(() => read({})).toThrow('STORAGE_DIR must be set');
    expect(() => read({ STORAGE: 'ftp' })).toThrow('STORAGE must be file or s3');
  });

  it('is a bucket at Amazon or at any endpoint', () => {
    expect(read(BUCKET, '/own')).toEqual(AMAZON);
    const own = { S3_ENDPOINT: 'http://minio:9000', S3_REGION: 'here' };
    const there = { ...AMAZON, endpoint: 'http://minio:9000', region: 'here' };
    expect(read({ ...BUCKET, ...own })).toEqual({ ...there, forcePathStyle: true });
    expect(read({ ...BUCKET, ...own, S3_FORCE_PATH_STYLE: 'false' })).toEqual(there);
  });

  it('names every error in a bucket’s settings, and never a value', () => {
    const faults = () => read({ STORAGE: 's3', S3_ENDPOINT: 'minio', S3_FORCE_PATH_STYLE: 'perhaps' });
    for (const name of [
      'S3_ENDPOINT',
      'S3_BUCKET',
      'S3_ACCESS_KEY_ID',
      'S3_SECRET_ACCESS_KEY',
      'S3_FORCE_PATH_STYLE',
    ]) {
      expect(faults).toThrow(name);
    }
    expect(faults).not.toThrow(/perhaps|minio/);
  });
});

describe('where the request log goes', () => {
  const readLog = (env: NodeJS.ProcessEnv) => readAlone(env, readRequestLogStorage);

  it('is nowhere by default, whatever is set for files', () => {
    expect(readLog({})).toBeNull();
    expect(readLog({ ...BUCKET, REQUEST_LOG: 'off', REQUEST_LOG_DIR: '/log' })).toBeNull();
  });

  it('is a separate folder, or a separate bucket in the file store', () => {
    expect(readLog({ REQUEST_LOG: 'file', REQUEST_LOG_DIR: '/log' })).toEqual({
      kind: 'file',
      folder: '/log',
    });
    expect(() => readLog({ REQUEST_LOG: 'file', STORAGE_DIR: '/files' })).toThrow(
      'REQUEST_LOG_DIR must be set',
    );
    expect(() =>
      readLog({ REQUEST_LOG: 'file', REQUEST_LOG_DIR: '/data/../files', STORAGE_DIR: '/files' }),
    ).toThrow('REQUEST_LOG_DIR must be another folder than STORAGE_DIR');
    const bucket = { ...BUCKET, REQUEST_LOG: 's3' };
    expect(readLog({ ...bucket, REQUEST_LOG_BUCKET: 'log' })).toEqual({ ...AMAZON, bucket: 'log' });
    expect(() => readLog(bucket)).toThrow('REQUEST_LOG_BUCKET must be set');
    expect(() => readLog({ ...bucket, REQUEST_LOG_BUCKET: 'files' })).toThrow(
      'REQUEST_LOG_BUCKET must be another bucket than S3_BUCKET',
    );
    expect(() => readLog({ REQUEST_LOG: 's3', REQUEST_LOG_BUCKET: 'log' })).toThrow(
      /S3_ACCESS_KEY_ID.*S3_SECRET/,
    );
  });
});
