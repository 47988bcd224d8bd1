import type { Readable } from 'node:stream';
import { NamedError } from '#platform/errors.js';

/** A source that is longer than the writer allowed. */
export class FileTooLarge extends NamedError {
  constructor(readonly maxBytes: number) {
    super(`the file is longer than ${maxBytes} bytes`);
  }
}

/** A file that was never written, or is gone. */
export class FileMissing extends NamedError {
  constructor(key: string) {
    super(`there is no file ${key}`);
  }
}

export interface WriteOptions {
  maxBytes: number;
  /**
   * False lets the operating system decide when the bytes reach the disk, for files that may be lost in a power
   * failure, such as images that are also delivered inline.
   */
  durable?: boolean;
  /** Cancels what is not stored yet. */
  signal?: AbortSignal | undefined;
}

/**
 * Finished files by keys such as `videos/<id>.mp4` or `requests/2026/11/24/13.ndjson.gz`. A file appears under its key
 * completely or not at all, even if the process or the machine dies. It is a class and not an interface, so that
 * programs can inject it.
 */
export abstract class FileStore {
  /**
   * Stores a source under a key, replacing an existing file. If it fails, nothing can be read.
   * @throws FileTooLarge, the source's own error, the store's, or RangeError for an invalid key
   */
  abstract write(key: string, source: Readable | Buffer, options: WriteOptions): Promise<{ bytes: number }>;

  /** The size of a file, or null if there is none. @throws RangeError for an invalid key */
  abstract stat(key: string, signal?: AbortSignal): Promise<{ bytes: number } | null>;

  /**
   * Which files exist of those whose keys are `start` with one of these endings. Asks a bucket once, so few files may start
   * like this.
   */
  abstract existing(start: string, endings: readonly string[]): Promise<string[]>;

  /**
   * Reads a file, or the bytes from `start` to `end`, both included. The caller reads or destroys it.
   * @throws FileMissing, or RangeError for an invalid key
   */
  abstract open(key: string, range?: { start: number; end: number }): Promise<Readable>;

  /** Removes a file. It may be missing. */
  abstract remove(key: string): Promise<void>;

  /** The keys of all files, in no particular order. A file that is created or removed meanwhile may be missing. */
  abstract keys(): AsyncIterable<string>;

  /** Removes the files of a folder that were written longer ago than `ageMs`, including leftovers of broken writes. */
  abstract purgeOlderThan(folder: string, ageMs: number): Promise<number>;

  /** Checks that the store exists and is ours. @throws the store's error */
  abstract check(): Promise<void>;

  /** Where the files are, for an operator's log. It contains no secrets. */
  abstract readonly place: string;
}

/** A folder and a file name. It cannot leave the root, be hidden, or look like a temporary name. */
const KEY = /^([a-z0-9]{1,32})\/([a-zA-Z0-9][a-zA-Z0-9_-]{0,99})\.([a-z0-9]{1,8})$/;
/** Hourly files are in folders by time, where people and their tools look for them. */
const KEY_OF_HOUR = /^([a-z0-9]{1,32})\/(\d{4}\/\d\d\/\d\d\/\d\d)\.(ndjson\.gz)$/;

/** @throws RangeError for an invalid key */
export function keyParts(key: string): { folder: string; name: string; extension: string } {
  const match = KEY.exec(key) ?? KEY_OF_HOUR.exec(key);
  if (!match) throw new RangeError(`not a key of the file store: ${JSON.stringify(key.slice(0, 150))}`);
  const [, folder = '', name = '', extension = ''] = match;
  return { folder, name, extension };
}

/** Whether a name belongs to a complete file, and not to a broken write. */
export function isKey(name: string): boolean {
  return KEY.test(name) || KEY_OF_HOUR.test(name);
}

/** @throws RangeError if it cannot be the folder of a key */
export function folderName(folder: string): string {
  if (!/^[a-z0-9]{1,32}$/.test(folder)) throw new RangeError(`not a folder of the file store: ${folder}`);
  return folder;
}

/** The chunks of a source, up to a limit. @throws FileTooLarge, or the source's own error */
export async function* atMost(source: Readable | Buffer, maxBytes: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  // Leaving the loop with an error destroys the source, and its connection.
  for await (const chunk of (Buffer.isBuffer(source) ? [source] : source) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new FileTooLarge(maxBytes);
    yield chunk;
  }
}

/** Runs a write and ends its source with it, whatever happens before the source is read. */
export async function endingSource<T>(source: Readable | Buffer, write: () => Promise<T>): Promise<T> {
  if (Buffer.isBuffer(source)) return write();
  // A source may break before it is read. Reading throws that error again.
  source.on('error', () => undefined);
  try {
    return await write();
  } finally {
    source.destroy();
  }
}
