import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, opendir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { randomUUID } from 'node:crypto';

/** A source that is longer than what the writer allowed. */
export class FileTooLarge extends Error {
  constructor(readonly maxBytes: number) {
    super(`the file is longer than ${maxBytes} bytes`);
    this.name = 'FileTooLarge';
  }
}

export interface WriteOptions {
  maxBytes: number;
  /**
   * False leaves it to the operating system when the bytes reach the disk: for files that may be lost in a power
   * failure, such as pictures that are also delivered inline.
   */
  durable?: boolean;
}

/** A folder and a file name: nothing that could climb out of the root, hide, or pass for a temporary name. */
const KEY = /^([a-z0-9]{1,32})\/([a-zA-Z0-9][a-zA-Z0-9_-]{0,99})\.([a-z0-9]{1,8})$/;
const TEMPORARY_SUFFIX = '.part';
/** Nobody but the relay's own user reads what customers made. */
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

/**
 * Finished files under a root folder, by keys such as `videos/<id>.mp4`. A file appears under its key whole or not at
 * all, also when the process or the machine dies. Inside, each folder is split by the last two characters of the
 * name, so that a million files do not share one directory.
 */
export class FileStore {
  private readonly knownFolders = new Set<string>();

  constructor(private readonly root: string) {}

  /**
   * Stores a source under a key, in place of what was there. Nothing stays behind when it fails.
   * @throws FileTooLarge, the source's own error, or RangeError for a key of another shape.
   */
  async write(key: string, source: Readable | Buffer, options: WriteOptions): Promise<{ bytes: number }> {
    // A source may break before it is read; reading tells that error again.
    if (!Buffer.isBuffer(source)) source.on('error', () => undefined);
    try {
      return await this.writeAside(this.pathOf(key), source, options);
    } finally {
      if (!Buffer.isBuffer(source)) source.destroy();
    }
  }

  /** The size of a file, or null when there is none. */
  async stat(key: string): Promise<{ bytes: number } | null> {
    try {
      return { bytes: (await stat(this.pathOf(key))).size };
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  /** Reads a file, or the bytes from `start` to `end`, both included. A missing file is an error of the stream. */
  open(key: string, range?: { start: number; end: number }): Readable {
    return createReadStream(this.pathOf(key), range ?? {});
  }

  /** Removes a file; a missing one is fine. */
  async remove(key: string): Promise<void> {
    await rm(this.pathOf(key), { force: true });
  }

  /** Removes the files of a folder that were written longer ago than `ageMs`, remains of broken writes included. */
  async purgeOlderThan(folder: string, ageMs: number): Promise<number> {
    const oldestMs = Date.now() - ageMs;
    let removed = 0;
    for await (const path of filesUnder(join(this.root, folderName(folder)))) {
      // Another program may purge the same folder at the same time.
      const written = await stat(path).catch(() => null);
      if (!written || written.mtimeMs >= oldestMs) continue;
      await rm(path, { force: true });
      removed += 1;
    }
    return removed;
  }

  /** Proves that files can be written. @throws the file system's error. */
  async check(): Promise<void> {
    const probe = join(this.root, `.probe-${randomUUID()}`);
    await this.ensureFolder(this.root);
    await (await open(probe, 'wx', FILE_MODE)).close();
    await rm(probe, { force: true });
  }

  private async writeAside(
    path: string,
    source: Readable | Buffer,
    options: WriteOptions,
  ): Promise<{ bytes: number }> {
    await this.ensureFolder(dirname(path));
    const temporary = `${path}.${randomUUID()}${TEMPORARY_SUFFIX}`;
    const durable = options.durable ?? true;
    try {
      const bytes = await writeWhole(temporary, source, { maxBytes: options.maxBytes, durable });
      await rename(temporary, path);
      if (durable) await syncFolder(dirname(path));
      return { bytes };
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  }

  private pathOf(key: string): string {
    const match = KEY.exec(key);
    if (!match) throw new RangeError(`not a key of the file store: ${JSON.stringify(key.slice(0, 150))}`);
    const [, folder = '', name = '', extension = ''] = match;
    return join(this.root, folder, name.slice(-2).toLowerCase(), `${name}.${extension}`);
  }

  private async ensureFolder(folder: string): Promise<void> {
    if (this.knownFolders.has(folder)) return;
    await mkdir(folder, { recursive: true, mode: FOLDER_MODE });
    this.knownFolders.add(folder);
  }
}

function folderName(folder: string): string {
  if (!/^[a-z0-9]{1,32}$/.test(folder)) throw new RangeError(`not a folder of the file store: ${folder}`);
  return folder;
}

async function writeWhole(
  path: string,
  source: Readable | Buffer,
  { maxBytes, durable }: { maxBytes: number; durable: boolean },
): Promise<number> {
  const file = await open(path, 'wx', FILE_MODE);
  try {
    const bytes = Buffer.isBuffer(source)
      ? await writeBuffer(file, source, maxBytes)
      : await writeStream(file, source, maxBytes);
    if (durable) await file.sync();
    return bytes;
  } finally {
    await file.close();
  }
}

async function writeBuffer(file: FileHandle, source: Buffer, maxBytes: number): Promise<number> {
  if (source.length > maxBytes) throw new FileTooLarge(maxBytes);
  await file.writeFile(source);
  return source.length;
}

async function writeStream(file: FileHandle, source: Readable, maxBytes: number): Promise<number> {
  let bytes = 0;
  // Leaving the loop by an error destroys the source, and with it the connection that it comes from.
  for await (const chunk of source as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new FileTooLarge(maxBytes);
    await file.writeFile(chunk);
  }
  return bytes;
}

/** A rename is only safe from a power failure once its folder is on the disk. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function* filesUnder(folder: string): AsyncGenerator<string> {
  try {
    for await (const entry of await opendir(folder)) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) yield* filesUnder(path);
      else yield path;
    }
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}
