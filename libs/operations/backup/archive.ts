import { createReadStream } from 'node:fs';
import { type FileHandle, link, open, rm, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream as WebStream } from 'node:stream/web';
import { createGunzip, createGzip } from 'node:zlib';
import { extract, type Pack, pack } from 'tar-stream';
import { OperatorError } from '#platform/errors.js';

/** A member of an archive. Its content is read, or skipped, before the next one arrives. */
export interface ArchiveEntry {
  name: string;
  bytes: number;
  content: Readable;
}

/** Writes members of an archive, one after the other. */
export class ArchiveWriter {
  constructor(private readonly tar: Pack) {}

  /** Adds a member whose content is in memory. */
  async add(name: string, content: Buffer | string): Promise<void> {
    const bytes = Buffer.from(content);
    await this.addStream(name, bytes.length, Readable.from([bytes]));
  }

  /** Adds a member of `size` bytes. @throws the source's error, or one if its length differs */
  async addStream(name: string, size: number, content: Readable): Promise<void> {
    const entry = this.tar.entry({ name, size, mode: 0o600 });
    await pipeline(content, entry);
  }
}

/**
 * Writes an archive: a gzipped tar, encrypted with age under a passphrase, so `age --decrypt` and tar open it, too. The
 * file appears completely or not at all, readable only by its user.
 * @throws OperatorError if the file exists, or cannot be written
 */
export async function writeArchive(
  file: string,
  passphrase: string,
  fill: (archive: ArchiveWriter) => Promise<void>,
): Promise<{ bytes: number }> {
  const draft = `${file}.${process.pid}.partial`;
  try {
    if (await stat(file).catch(() => null)) throw new OperatorError(taken(file));
    const bytes = await writeDraft(await open(draft, 'wx', 0o600), passphrase, fill);
    // A link never replaces a file, unlike a rename.
    await link(draft, file);
    return { bytes };
  } catch (error) {
    throw writeFault(file, error);
  } finally {
    await rm(draft, { force: true });
  }
}

function taken(file: string): string {
  return `The file ${file} is there already: choose another name.`;
}

function writeFault(file: string, error: unknown): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code === 'EEXIST') return new OperatorError(taken(file));
  const isOurs = syscall !== undefined && ['open', 'write', 'link', 'fsync'].includes(syscall);
  return isOurs ? new OperatorError(`Cannot write the backup ${file} (${code}).`) : error;
}

async function writeDraft(
  handle: FileHandle,
  passphrase: string,
  fill: (archive: ArchiveWriter) => Promise<void>,
): Promise<number> {
  const tar = pack();
  const zipped = createGzip({ level: 6 });
  const sealed = await encrypted(zipped, passphrase);
  const filling = fill(new ArchiveWriter(tar)).then(
    () => tar.finalize(),
    (error: Error) => tar.destroy(error),
  );
  try {
    const [bytes] = await Promise.all([writeAll(handle, sealed), pipeline(tar, zipped), filling]);
    await handle.sync();
    return bytes;
  } finally {
    await handle.close();
  }
}

async function encrypted(content: Readable, passphrase: string): Promise<Readable> {
  // Loading it takes a sixth of a second of CPU time, which only backups need.
  const { Encrypter } = await import('age-encryption');
  const encrypter = new Encrypter();
  encrypter.setPassphrase(passphrase);
  const source = Readable.toWeb(content) as ReadableStream<Uint8Array>;
  return Readable.fromWeb((await encrypter.encrypt(source)) as WebStream);
}

async function writeAll(handle: FileHandle, content: AsyncIterable<Buffer>): Promise<number> {
  let bytes = 0;
  for await (const chunk of content) {
    bytes += chunk.length;
    await handle.writeFile(chunk);
  }
  return bytes;
}

/**
 * The members of an archive, in order.
 * @throws OperatorError if the file is no archive, was cut off or changed, or the passphrase is wrong
 */
export async function* readArchive(file: string, passphrase: string): AsyncGenerator<ArchiveEntry> {
  const { Decrypter } = await import('age-encryption');
  const decrypter = new Decrypter();
  decrypter.addPassphrase(passphrase);
  const source = createReadStream(file);
  const tar = extract();
  try {
    const plain = await decrypter.decrypt(Readable.toWeb(source) as ReadableStream<Uint8Array>);
    const flow = pipeline(Readable.fromWeb(plain as WebStream), createGunzip(), tar);
    // An error here also breaks the loop below.
    flow.catch(() => undefined);
    for await (const entry of tar) {
      const { name, size } = entry.header;
      yield { name, bytes: size, content: Readable.from(contentOf(entry, file), { objectMode: false }) };
      entry.resume();
    }
    await flow;
  } catch (error) {
    throw readFault(file, error);
  } finally {
    source.destroy();
  }
}

/** Its reader may stop early, which must not end the archive. */
async function* contentOf(entry: AsyncIterable<unknown>, file: string): AsyncGenerator<Buffer> {
  try {
    yield* entry as AsyncIterable<Buffer>;
  } catch (error) {
    throw readFault(file, error);
  }
}

function readFault(file: string, error: unknown): OperatorError {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return new OperatorError(`There is no file ${file}.`);
  if (message.startsWith('no identity matched')) {
    return new OperatorError(`The passphrase does not open ${file}: check BACKUP_PASSPHRASE.`);
  }
  return new OperatorError(`${file} is not a backup, or it is incomplete or was changed (${message}).`);
}
