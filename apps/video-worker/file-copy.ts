import { Readable } from 'node:stream';
import type { Channel } from '#catalog/catalog.js';
import { type FileStore, FileTooLarge } from '#storage/file-store.js';
import type { LeasedTask } from '#tasks/leased-task.js';
import type { Upstreams } from '#upstream/adapters.js';
import type { FileBody } from '#upstream/file-download.js';
import { kindsOfWork } from './task-kinds.js';

/** The time for the largest file at one megabyte per second, rounded up. */
export const COPY_LIMIT_MS = 600_000;

export interface CopyFailure {
  ok: false;
  /** For the operator. */
  reason: string;
  /** Our store did not take the file. The vendor's may be fine. */
  isStores: boolean;
}

/** Copies the finished file of a task to the store, once. Never throws. */
export async function copyFile(
  { upstreams, storage }: { upstreams: Upstreams; storage: FileStore },
  task: LeasedTask,
  { channel, fileUrl, signal }: { channel: Channel; fileUrl: string; signal: AbortSignal },
): Promise<{ ok: true; key: string; bytes: number } | CopyFailure> {
  const work = kindsOfWork[task.kind];
  const key = `${work.folder}/${task.id}.${work.extension}`;
  const adapter = upstreams.adapterFor(channel.protocol);
  const limit = AbortSignal.any([signal, AbortSignal.timeout(COPY_LIMIT_MS)]);
  let file: FileBody | undefined;
  let isBroken = false;
  try {
    file = await work.open(adapter, channel, { fileUrl, signal: limit });
    const chunks = noting(work.checked(file.body), () => (isBroken = true));
    const source = Readable.from(chunks, { objectMode: false });
    const { bytes } = await storage.write(key, source, { maxBytes: work.maxBytes });
    return { ok: true, key, bytes };
  } catch (error) {
    const isStores = file !== undefined && !isBroken && !(error instanceof FileTooLarge);
    return { ok: false, reason: error instanceof Error ? error.message : String(error), isStores };
  } finally {
    file?.body.destroy();
  }
}

/** Passes chunks on, and says when their source breaks. */
async function* noting(chunks: AsyncIterable<Buffer>, onBroken: () => void): AsyncGenerator<Buffer> {
  try {
    yield* chunks;
  } catch (error) {
    onBroken();
    throw error;
  }
}
