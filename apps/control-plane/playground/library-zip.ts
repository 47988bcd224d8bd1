import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import type { MailLanguage } from '#identity/language.js';

export interface LibraryFile {
  readonly name: string;
  readonly at: Date;
  /** Null: it is no longer stored. */
  readonly read: () => Promise<{ bytes: number; body: Readable } | null>;
}

interface ZipOptions {
  readonly mostFiles: number;
  readonly mostBytes: number;
  /** There may be older files that are not among these. */
  readonly isPartial: boolean;
  readonly language: MailLanguage;
}

/** Written into the zip if it lacks something. */
const NOTES = {
  en: {
    files: (count: number) => `Files in this archive: ${count}`,
    gone: (count: number) => `Left out because they have expired: ${count}`,
    full: 'The archive is full. Older files were left out.',
    partial: 'Older requests were not checked. Their files were left out.',
  },
  zh: {
    files: (count: number) => `此压缩包中的文件数：${count}`,
    gone: (count: number) => `因已过期而未包含的文件数：${count}`,
    full: '压缩包已满，较早的文件未包含在内。',
    partial: '未检查更早的请求，其文件未包含在内。',
  },
};
const NOTE_FILE = 'left-out.txt';

/**
 * A zip of files as they are, because media do not get smaller: each is read when the one before it has been sent. A file that
 * breaks breaks the zip.
 */
export function libraryZip(files: AsyncIterable<LibraryFile>, options: ZipOptions): Readable {
  const zip = new ZipFile();
  const output = zip.outputStream as Readable;
  zip.on('error', (error: Error) => output.destroy(error));
  fill(zip, files, options).catch((error: Error) => output.destroy(error));
  return output;
}

async function fill(
  zip: ZipFile,
  files: AsyncIterable<LibraryFile>,
  { mostFiles, mostBytes, isPartial, language }: ZipOptions,
): Promise<void> {
  const sum = { files: 0, bytes: 0, gone: 0, isFull: false };
  for await (const { name, at, read } of files) {
    const content = await read();
    if (!content) sum.gone += 1;
    if (!content) continue;
    const { body, bytes } = content;
    sum.isFull = sum.files === mostFiles || sum.bytes + bytes > mostBytes;
    if (sum.isFull) {
      body.on('error', () => undefined).destroy();
      break;
    }
    zip.addReadStream(body, name, { mtime: at, compress: false, size: bytes });
    await finished(body);
    sum.files += 1;
    sum.bytes += bytes;
  }
  const note = noteOf({ ...sum, isPartial }, language);
  if (note !== null) zip.addBuffer(Buffer.from(note), NOTE_FILE);
  zip.end();
}

function noteOf(
  { files, gone, isFull, isPartial }: { files: number; gone: number; isFull: boolean; isPartial: boolean },
  language: MailLanguage,
): string | null {
  if (files > 0 && gone === 0 && !isFull && !isPartial) return null;
  const notes = NOTES[language];
  const lines = [
    notes.files(files),
    gone > 0 && notes.gone(gone),
    isFull && notes.full,
    isPartial && !isFull && notes.partial,
  ];
  return `${lines.filter(Boolean).join('\n')}\n`;
}
