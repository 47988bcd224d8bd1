import { Readable } from 'node:stream';
import type { Channel } from '#catalog/catalog.js';
import { type FileStore, FileTooLarge } from '#storage/file-store.js';
import type { LeasedTask } from '#tasks/leased-task.js';
import type { Upstreams } from '#upstream/adapters.js';
import type { FileBody } from '#upstream/file-download.js';
import { kindsOfWork } from './task-kinds.js';

/** The time for the largest file at one megabyte per second, rounded up. */
export const COPY_LIMIT_MS = 600_000;

export interface Copying {
  channel: Channel;
  fileUrl: string;
  signal: AbortSignal;
  limitMs?: number;
}

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
  { channel, fileUrl, signal, limitMs = COPY_LIMIT_MS }: Copying,
): Promise<{ ok: true; key: string; bytes: number } | CopyFailure> {
  const work = kindsOfWork[task.kind];
  const key = `${work.folder}/${task.id}.${work.extension}`;
  const adapter = upstreams.adapterFor(channel.protocol);
  const limit = AbortSignal.any([signal, AbortSignal.timeout(limitMs)]);
  let file: FileBody | undefined;
  const flow: Flow = { isBroken: false, vendorMs: 0, storeMs: 0 };
  try {
    file = await adapter.openFile(channel, fileUrl, { signal: limit, maxBytes: work.maxBytes });
    const source = Readable.from(noting(work.checked(file.body), flow), { objectMode: false });
    const { bytes } = await storage.write(key, source, { maxBytes: work.maxBytes });
    return { ok: true, key, bytes };
  } catch (error) {
    const isSlowStore = limit.aborted && flow.storeMs > flow.vendorMs;
    const isStores =
      file !== undefined && (!flow.isBroken || isSlowStore) && !(error instanceof FileTooLarge);
    return { ok: false, reason: error instanceof Error ? error.message : String(error), isStores };
  } finally {
    file?.body.destroy();
  }
}

/** Where chunks came to a stop. */
interface Flow {
  isBroken: boolean;
  /** How long each side was waited for. */
  vendorMs: number;
  storeMs: number;
}

/** Passes chunks on, and notes when their source breaks and who is slow. */
async function* noting(chunks: AsyncIterable<Buffer>, flow: Flow): AsyncGenerator<Buffer> {
  let sinceMs = performance.now();
  const count = (side: 'vendorMs' | 'storeMs') => {
    const nowMs = performance.now();
    flow[side] += nowMs - sinceMs;
    sinceMs = nowMs;
  };
  try {
    for await (const chunk of chunks) {
      count('vendorMs');
      yield chunk;
      count('storeMs');
    }
  } catch (error) {
    count('vendorMs');
    flow.isBroken = true;
    throw error;
  }
}
