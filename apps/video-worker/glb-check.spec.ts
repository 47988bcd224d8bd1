import { describe, expect, it } from 'vitest';
import { wholeGlb } from './glb-check.js';

/** A GLB file of `bytes` bytes whose header says `announced`. */
function glb(bytes: number, announced = bytes): Buffer {
  const file = Buffer.alloc(bytes);
  file.write('glTF');
  file.writeUInt32LE(2, 4);
  file.writeUInt32LE(announced, 8);
  return file;
}

async function passed(file: Buffer, chunkBytes: number): Promise<Buffer> {
  async function* chunks() {
    for (let at = 0; at < file.length; at += chunkBytes) yield file.subarray(at, at + chunkBytes);
  }
  const out: Buffer[] = [];
  for await (const chunk of wholeGlb(chunks())) out.push(chunk);
  return Buffer.concat(out);
}

describe('wholeGlb', () => {
  it.each([1, 3, 7, 12, 1000])('passes on a whole file, cut into pieces of %d bytes', async (size) => {
    expect(await passed(glb(100), size)).toEqual(glb(100));
  });

  it.each<[string, Buffer]>([
    ['a page', Buffer.from('<html>not found</html>')],
    ['nothing', Buffer.alloc(0)],
    ['only a header', glb(12).subarray(0, 8)],
    ['a file cut short', glb(80, 100)],
    ['a file with trailing bytes', glb(100, 80)],
  ])('refuses %s', async (_what, file) => {
    for (const size of [1, 5, 1000]) await expect(passed(file, size)).rejects.toThrow();
  });
});
