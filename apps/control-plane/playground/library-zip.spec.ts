import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { unzip } from '../../../test/support/zip.js';
import { type LibraryFile, libraryZip } from './library-zip.js';

const OPTIONS = { mostFiles: 3, mostBytes: 10, isPartial: false, language: 'en' } as const;

/** A file with this content; null if it is no longer stored. */
function file(name: string, content: string | null): LibraryFile {
  const body = () => Readable.from([Buffer.from(content ?? '')], { objectMode: false });
  return {
    name,
    at: new Date('2026-01-02T03:04:05Z'),
    read: () => Promise.resolve(content === null ? null : { bytes: content.length, body: body() }),
  };
}

async function zipped(files: LibraryFile[], options: Partial<Parameters<typeof libraryZip>[1]> = {}) {
  const source = (async function* () {
    yield* files;
  })();
  return Object.fromEntries(unzip(await buffer(libraryZip(source, { ...OPTIONS, ...options }))));
}

describe('a zip of files', () => {
  it('contains each file unchanged, and no note if all are there', async () => {
    const files = [file('a.png', 'one'), file('b.mp4', 'two'), file('c.glb', 'four')];
    expect(await zipped(files)).toEqual({ 'a.png': 'one', 'b.mp4': 'two', 'c.glb': 'four' });
  });

  it('leaves out what has expired, and says how many', async () => {
    const files = [file('a.png', null), file('b.mp4', 'two'), file('c.glb', null)];
    expect(await zipped(files)).toEqual({
      'b.mp4': 'two',
      'left-out.txt': 'Files in this archive: 1\nLeft out because they have expired: 2\n',
    });
    expect(await zipped([], { language: 'zh' })).toEqual({ 'left-out.txt': '此压缩包中的文件数：0\n' });
  });

  it('ends before one file too many, and before one byte too many', async () => {
    const full = 'The archive is full. Older files were left out.\n';
    const many = ['a', 'b', 'c', 'd', 'e'].map((name) => file(`${name}.png`, name));
    expect(await zipped(many)).toEqual({
      'a.png': 'a',
      'b.png': 'b',
      'c.png': 'c',
      'left-out.txt': `Files in this archive: 3\n${full}`,
    });
    const large = [file('a.png', 'ten bytes!'), file('b.png', '1')];
    expect(await zipped(large)).toEqual({
      'a.png': 'ten bytes!',
      'left-out.txt': `Files in this archive: 1\n${full}`,
    });
  });

  it('is not full if everything that follows has expired', async () => {
    const files = ['a', 'b', 'c'].map((name) => file(`${name}.png`, name));
    expect(Object.keys(await zipped(files))).toEqual(['a.png', 'b.png', 'c.png']);
    expect(await zipped([...files, file('d.png', null)])).toMatchObject({
      'left-out.txt': 'Files in this archive: 3\nLeft out because they have expired: 1\n',
    });
  });

  it('says if there may be older files, unless it is full', async () => {
    const files = ['a', 'b', 'c', 'd'].map((name) => file(`${name}.png`, name));
    expect(await zipped(files.slice(0, 1), { isPartial: true })).toEqual({
      'a.png': 'a',
      'left-out.txt':
        'Files in this archive: 1\nOlder requests were not checked. Their files were left out.\n',
    });
    expect(await zipped(files, { isPartial: true })).toMatchObject({
      'left-out.txt': 'Files in this archive: 3\nThe archive is full. Older files were left out.\n',
    });
  });

  it('breaks off with a file that breaks off or is cut', async () => {
    const broken: LibraryFile = {
      ...file('a.png', ''),
      read: () => Promise.resolve({ bytes: 1, body: breaking() }),
    };
    await expect(zipped([broken, file('b.png', '1')])).rejects.toThrow('the connection broke');
    const cut = {
      ...file('a.png', ''),
      read: () => Promise.resolve({ bytes: 2, body: Readable.from(['1']) }),
    };
    await expect(zipped([cut])).rejects.toThrow('unexpected number of bytes');
  });
});

function breaking(): Readable {
  return new Readable({
    read() {
      this.destroy(new Error('the connection broke'));
    },
  });
}
