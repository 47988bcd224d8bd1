import { useSyncExternalStore } from 'react';
import { type ApiFailure, asFailure, failureFrom } from '../../api/failure.js';
import { whenPersonLeaves } from '../../shell/session.js';
import { saveFile } from '../../ui/save-file.js';

export interface FileDownload {
  id: string;
  name: string;
  state: 'running' | 'done' | 'failed' | 'cancelled';
  bytes: number;
  /** Milliseconds. */
  startedAt: number;
  endedAt: number | null;
  failure: ApiFailure | null;
  /** The browser's address of the complete file. */
  address: string | null;
}

/** Downloads belong to the tab, so that they continue when people leave the page. */
let downloads: readonly FileDownload[] = [];
const listeners = new Set<() => void>();
const running = new Map<string, AbortController>();

export function useDownloads(): readonly FileDownload[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => downloads,
  );
}

function change(id: string, news: Partial<FileDownload>): void {
  downloads = downloads.map((each) => (each.id === id ? { ...each, ...news } : each));
  for (const listener of listeners) listener();
}

export function cancelDownload(id: string): void {
  running.get(id)?.abort();
}

/** Forgets a file and frees the browser's copy. */
export function forgetDownload(id: string): void {
  const found = downloads.find((each) => each.id === id);
  if (found?.address) URL.revokeObjectURL(found.address);
  downloads = downloads.filter((each) => each.id !== id);
  for (const listener of listeners) listener();
}

whenPersonLeaves(() => {
  for (const { id } of downloads) {
    cancelDownload(id);
    forgetDownload(id);
  }
});

/** Downloads a file while the server still writes it, and reports the progress. */
export async function startDownload(path: string, name: string): Promise<void> {
  const id = crypto.randomUUID();
  const stop = new AbortController();
  running.set(id, stop);
  const begun = { id, name, state: 'running', bytes: 0, startedAt: Date.now() } as const;
  downloads = [{ ...begun, endedAt: null, failure: null, address: null }, ...downloads];
  change(id, {});
  try {
    const file = await read(path, stop.signal, (bytes) => change(id, { bytes }));
    stop.signal.throwIfAborted();
    const address = URL.createObjectURL(file);
    change(id, { state: 'done', bytes: file.size, endedAt: Date.now(), address });
    saveFile(address, name);
  } catch (error) {
    const state = stop.signal.aborted ? 'cancelled' : 'failed';
    change(id, { state, endedAt: Date.now(), failure: asFailure(error) });
  } finally {
    running.delete(id);
  }
}

/** Browsers keep large blobs on disk, so a long file does not fill the page's memory. */
const PIECE_BYTES = 16 * 1_024 * 1_024;

async function read(path: string, signal: AbortSignal, tell: (bytes: number) => void): Promise<Blob> {
  const response = await fetch(path, { signal });
  if (!response.ok || response.body === null) throw await failureFrom(response);
  const type = response.headers.get('content-type') ?? 'text/plain';
  const pieces: Blob[] = [];
  let chunks: Uint8Array<ArrayBuffer>[] = [];
  let waiting = 0;
  let bytes = 0;
  const reader = response.body.getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    chunks.push(part.value);
    waiting += part.value.byteLength;
    bytes += part.value.byteLength;
    if (waiting >= PIECE_BYTES) {
      pieces.push(new Blob(chunks));
      [chunks, waiting] = [[], 0];
    }
    tell(bytes);
  }
  return new Blob([...pieces, ...chunks], { type });
}
