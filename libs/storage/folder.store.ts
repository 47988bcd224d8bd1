import { randomUUID } from 'node:crypto';
import { mkdir, open, opendir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { addAbortSignal, type Readable } from 'node:stream';
import {
  atMost,
  endingSource,
  FileMissing,
  FileStore,
  FileTooLarge,
  folderName,
  isKey,
  keyParts,
  type WriteOptions,
} from './file-store.js';

const TEMPORARY_SUFFIX = '.part';
/** Only the relay's own user reads customers' files. */
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

/**
 * Files under a root folder of the file system. Each folder is split by two characters of the name, so that a million
 * files do not share one directory.
 */
export class FolderStore extends FileStore {
  private readonly knownFolders = new Set<string>();

  constructor(private readonly root: string) {
    super();
  }

  get place(): string {
    return this.root;
  }

  async write(key: string, source: Readable | Buffer, options: WriteOptions): Promise<{ bytes: number }> {
    return endingSource(source, () => this.writeAside(this.pathsOf(key)[0], source, options));
  }

  async stat(key: string): Promise<{ bytes: number } | null> {
    const found = await this.firstOf(key, (path) => stat(path));
    return found && { bytes: found.size };
  }

  async existing(start: string, endings: readonly string[]): Promise<string[]> {
    const found = await Promise.all(endings.map((ending) => this.stat(start + ending)));
    return endings.filter((_, index) => found[index]);
  }

  async open(key: string, range?: { start: number; end: number }): Promise<Readable> {
    const file = await this.firstOf(key, (path) => open(path, 'r'));
    if (!file) throw new FileMissing(key);
    return file.createReadStream(range ?? {});
  }

  async remove(key: string): Promise<void> {
    for (const path of this.pathsOf(key)) await rm(path, { force: true });
  }

  async *keys(): AsyncGenerator<string> {
    for await (const path of filesUnder(this.root)) {
      const parts = relative(this.root, path).split(sep);
      const key = parts.length === 3 ? `${parts[0]}/${parts[2]}` : parts.join('/');
      if (isKey(key)) yield key;
    }
  }

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

  /** Checks that files can be written. @throws the file system's error */
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
    if (Buffer.isBuffer(source) && source.length > options.maxBytes) throw new FileTooLarge(options.maxBytes);
    await this.ensureFolder(dirname(path));
    const temporary = `${path}.${randomUUID()}${TEMPORARY_SUFFIX}`;
    const { maxBytes, durable = true, signal } = options;
    if (signal && !Buffer.isBuffer(source)) addAbortSignal(signal, source);
    try {
      const bytes = await writeWhole(temporary, source, { maxBytes, durable, signal });
      signal?.throwIfAborted();
      await rename(temporary, path);
      if (durable) await syncFolder(dirname(path));
      return { bytes };
    } catch (error) {
      await rm(temporary, { force: true });
      // Someone who moves files away may have removed it. The next write creates it again.
      this.knownFolders.delete(dirname(path));
      throw error;
    }
  }

  /** Applies `read` to the file of a key. Null if there is no file. */
  private async firstOf<T>(key: string, read: (path: string) => Promise<T>): Promise<T | null> {
    for (const path of this.pathsOf(key)) {
      try {
        return await read(path);
      } catch (error) {
        if (!isMissing(error)) throw error;
      }
    }
    return null;
  }

  /** Where a new file goes, and where an earlier version put it. */
  private pathsOf(key: string): [string, ...string[]] {
    const { folder, name, extension } = keyParts(key);
    const at = (split: string) => join(this.root, folder, split.toLowerCase(), `${name}.${extension}`);
    // Hourly files have their own folders.
    if (name.includes('/')) return [at('')];
    // `<charge id>-<ordinal>`: the ordinal of nearly every image is 0.
    const id = name.replace(/-\d+$/, '');
    return id === name ? [at(name.slice(-2))] : [at(id.slice(-2)), at(name.slice(-2))];
  }

  private async ensureFolder(folder: string): Promise<void> {
    if (this.knownFolders.has(folder)) return;
    await mkdir(folder, { recursive: true, mode: FOLDER_MODE });
    this.knownFolders.add(folder);
  }
}

async function writeWhole(
  path: string,
  source: Readable | Buffer,
  { maxBytes, durable, signal }: WriteOptions,
): Promise<number> {
  const file = await open(path, 'wx', FILE_MODE);
  let bytes = 0;
  try {
    for await (const chunk of atMost(source, maxBytes)) {
      bytes += chunk.length;
      await file.writeFile(chunk, { signal });
    }
    if (durable) await file.sync();
    return bytes;
  } finally {
    await file.close();
  }
}

/** A rename survives a power failure only once its folder is on the disk. */
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
