import { inflateRawSync } from 'node:zlib';

const END = 0x06054b50;
const ENTRY = 0x02014b50;
const DEFLATED = 8;

/** The texts in a zip archive, by file name. */
export function unzip(archive: Buffer): Map<string, string> {
  return new Map([...unzipped(archive)].map(([name, bytes]) => [name, bytes.toString()]));
}

/** The files in a zip archive, by file name. */
export function unzipped(archive: Buffer): Map<string, Buffer> {
  const end = archive.lastIndexOf(signature(END));
  const count = archive.readUInt16LE(end + 10);
  const files = new Map<string, Buffer>();
  let at = archive.readUInt32LE(end + 16);
  for (let entry = 0; entry < count; entry += 1) {
    if (archive.readUInt32LE(at) !== ENTRY) throw new Error('the archive has no entry where it says');
    const [name, extra, comment] = [28, 30, 32].map((place) => archive.readUInt16LE(at + place)) as [
      number,
      number,
      number,
    ];
    const local = archive.readUInt32LE(at + 42);
    const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
    const bytes = archive.subarray(start, start + archive.readUInt32LE(at + 20));
    const isDeflated = archive.readUInt16LE(at + 10) === DEFLATED;
    const file = isDeflated ? inflateRawSync(bytes) : bytes;
    files.set(archive.subarray(at + 46, at + 46 + name).toString(), file);
    at += 46 + name + extra + comment;
  }
  return files;
}

function signature(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
