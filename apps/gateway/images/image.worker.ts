import { setPriority } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { parentPort } from 'node:worker_threads';
import { Transformer } from '@napi-rs/image';

/*
 * Reads images of clients apart from the thread that serves HTTP. The file imports packages only, so that it can be
 * started as TypeScript (tests) and as built JavaScript alike.
 */

export interface ReadOrder {
  /** The bytes of an image, or base64 of them with or without the head of a data URL. */
  encoding: 'bytes' | 'base64';
  /** Base64 from within a JSON text, with its escapes. */
  isEscaped: boolean;
  pieces: Uint8Array[];
  /** Also accepts GIFs without inspecting them, because nothing here reads them. */
  allowsGif: boolean;
  maxBytes: number;
  maxPixels: number;
  /** The longer side divided by the shorter. */
  maxTimesAsLong: number;
}

export type ImageFault =
  | 'no_base64'
  | 'too_many_bytes'
  | 'no_image'
  | 'too_many_pixels'
  | 'too_narrow'
  | 'broken';

export type ReadAnswer =
  | { bytes: Uint8Array<ArrayBuffer>; mime: string; extension: string; fault?: undefined }
  | { fault: ImageFault; bytes?: undefined };

/** What every upstream reads. */
const FORMATS: readonly { mime: string; extension: string; at: number; magic: string }[] = [
  { mime: 'image/png', extension: 'png', at: 0, magic: '89504e470d0a1a0a' },
  { mime: 'image/jpeg', extension: 'jpg', at: 0, magic: 'ffd8ff' },
  { mime: 'image/webp', extension: 'webp', at: 8, magic: '57454250' },
];
/** A progressive JPEG has about ten scans, each a pass over all pixels. A malicious one can have thousands. */
const SCANS_OF_ALL_PIXELS = 10;

/** Pixels after which the memory of decoded images is freed. The garbage collector does not see it, and would leave gigabytes. */
const PIXELS_TO_FREE = 4_000_000;

setFlagsFromString('--expose-gc');
const freeMemory = runInNewContext('gc') as () => void;
let pixelsToFree = 0;

/** Lower priority than the main thread. On other systems it would apply to the whole process. */
if (parentPort && process.platform === 'linux') setPriority(10);

parentPort?.on('message', (order: ReadOrder) => {
  const answer = read(order);
  parentPort?.postMessage(answer, answer.bytes ? [answer.bytes.buffer] : []);
  if (pixelsToFree < PIXELS_TO_FREE) return;
  pixelsToFree = 0;
  freeMemory();
});

/** Reads one image to its last pixel. */
export function read(order: ReadOrder): ReadAnswer {
  const joined = Buffer.concat(order.pieces);
  const bytes = order.encoding === 'bytes' ? joined : decoded(joined, order.isEscaped);
  if (bytes === null) return { fault: 'no_base64' };
  if (bytes.length > order.maxBytes) return { fault: 'too_many_bytes' };
  const format = FORMATS.find(
    ({ at, magic }) => bytes.subarray(at, at + magic.length / 2).toString('hex') === magic,
  );
  if (!format) {
    const isGif = order.allowsGif && bytes.toString('latin1', 0, 4) === 'GIF8';
    return isGif ? answerOf(bytes, 'image/gif', 'gif') : { fault: 'no_image' };
  }
  const fault = faultOf(bytes, format.mime, order);
  if (fault) return { fault };
  return answerOf(bytes, format.mime, format.extension);
}

function answerOf(bytes: Buffer, mime: string, extension: string): ReadAnswer {
  const own = bytes.buffer.byteLength === bytes.length ? bytes : Uint8Array.prototype.slice.call(bytes);
  return { bytes: own as Uint8Array<ArrayBuffer>, mime, extension };
}

function decoded(base64: Buffer, isEscaped: boolean): Buffer | null {
  const text = base64.toString('latin1');
  try {
    return decodeBase64(isEscaped ? (JSON.parse(`"${text}"`) as string) : text);
  } catch {
    return null;
  }
}

/** The bytes of base64, with or without the head of a data URL. Null if invalid. */
export function decodeBase64(text: string): Buffer | null {
  const comma = /^\s*data:/i.test(text.slice(0, 100)) ? text.indexOf(',') : -1;
  const isOther = comma >= 0 && !/;base64$/i.test(text.slice(0, comma));
  const base64 = text
    .slice(comma + 1)
    .replace(/\s+/g, '')
    .replace(/={1,2}$/, '');
  // The decoder would skip invalid characters.
  if (isOther || base64.length % 4 === 1 || !/^[A-Za-z0-9+/_-]+$/.test(base64)) return null;
  return Buffer.from(base64, 'base64');
}

function faultOf(bytes: Buffer, mime: string, order: ReadOrder): ImageFault | null {
  const { maxPixels, maxTimesAsLong } = order;
  try {
    if (CLAIMED[mime]!(bytes) > maxPixels) return 'too_many_pixels';
    // Decodes it to the last pixel.
    const { width, height } = new Transformer(bytes).metadataSync();
    pixelsToFree += width * height;
    if (width * height > maxPixels) return 'too_many_pixels';
    if (Math.max(width, height) > maxTimesAsLong * Math.min(width, height)) return 'too_narrow';
    if (mime === 'image/jpeg') {
      const scans = scansOf(bytes);
      if (scans === null) return 'broken';
      if (scans * width * height > SCANS_OF_ALL_PIXELS * maxPixels) return 'too_many_pixels';
    }
    return null;
  } catch {
    return 'broken';
  }
}

/** By its header. Those with 16 bits per channel count twice, because they take twice the memory. @throws RangeError */
function pixelsOfPng(bytes: Buffer): number {
  const isDeep = bytes.readUInt8(24) === 16;
  return bytes.readUInt32BE(16) * bytes.readUInt32BE(20) * (isDeep ? 2 : 1);
}

/** The pixels of the largest frame before the first scan. Whatever `scansOf` calls broken is broken here too. @throws RangeError */
function pixelsOfJpeg(bytes: Buffer): number {
  let pixels = 0;
  for (let at = 2; bytes.readUInt8(at) === 0xff;) {
    const marker = bytes.readUInt8(at + 1);
    if (marker === START_OF_SCAN) return pixels;
    if (isFrame(marker)) pixels = Math.max(pixels, bytes.readUInt16BE(at + 5) * bytes.readUInt16BE(at + 7));
    at += marker === 0xff ? 1 : 2 + bytes.readUInt16BE(at + 2);
  }
  throw new RangeError('no scan');
}

function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
}

const FIRST_CHUNK_AT = 12;
const CHUNK_HEADER = 8;
/** Of a frame of an animation, before its own chunks. */
const FRAME_HEADER = 16;

/** The largest of its canvas and its frames, since decoders compare them only afterwards. @throws RangeError if there are none */
function pixelsOfWebp(bytes: Buffer): number {
  const pixels = pixelsOfChunks(bytes, FIRST_CHUNK_AT, bytes.length);
  if (pixels === 0) throw new RangeError('no image');
  return pixels;
}

function pixelsOfChunks(bytes: Buffer, from: number, to: number): number {
  let pixels = 0;
  for (let at = from; at + CHUNK_HEADER < to;) {
    const size = bytes.readUInt32LE(at + 4);
    const data = at + CHUNK_HEADER;
    const next = data + size + (size % 2);
    pixels = Math.max(
      pixels,
      pixelsOfChunk(bytes, { name: bytes.toString('latin1', at, at + 4), data, next }),
    );
    at = next;
  }
  return pixels;
}

function pixelsOfChunk(
  bytes: Buffer,
  { name, data, next }: { name: string; data: number; next: number },
): number {
  if (name === 'VP8X') return (bytes.readUIntLE(data + 4, 3) + 1) * (bytes.readUIntLE(data + 7, 3) + 1);
  if (name === 'VP8 ') return (bytes.readUInt16LE(data + 6) & SIDE) * (bytes.readUInt16LE(data + 8) & SIDE);
  if (name === 'ANMF') return pixelsOfChunks(bytes, data + FRAME_HEADER, Math.min(next, bytes.length));
  if (name !== 'VP8L') return 0;
  const sides = bytes.readUInt32LE(data + 1);
  return ((sides & SIDE) + 1) * (((sides >>> 14) & SIDE) + 1);
}

/** The largest side of a frame. */
const SIDE = 0x3fff;

/** The pixels that the header of an image claims. */
const CLAIMED: Readonly<Record<string, (bytes: Buffer) => number>> = {
  'image/png': pixelsOfPng,
  'image/jpeg': pixelsOfJpeg,
  'image/webp': pixelsOfWebp,
};

const END = 0xd9;
const START_OF_SCAN = 0xda;

/** The number of scans of a JPEG. Null if it is truncated, which decoders ignore. */
function scansOf(bytes: Buffer): number | null {
  let scans = 0;
  for (let at = 2; at + 4 <= bytes.length;) {
    const marker = bytes[at + 1] as number;
    if (bytes[at] !== 0xff) return null;
    if (marker === 0xff) at += 1;
    else if (marker === END) return scans;
    else {
      at += 2 + bytes.readUInt16BE(at + 2);
      if (marker !== START_OF_SCAN) continue;
      scans += 1;
      at = endOfScan(bytes, at);
    }
  }
  return bytes.length >= 2 && bytes.readUInt16BE(bytes.length - 2) === 0xff00 + END ? scans : null;
}

/** The next marker that is no part of the scan: neither a stuffed byte nor a restart. */
function endOfScan(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(0xff, from); at >= 0; at = bytes.indexOf(0xff, at + 1)) {
    const next = bytes[at + 1] ?? 0;
    if (next !== 0 && !(next >= 0xd0 && next <= 0xd7)) return at;
  }
  return bytes.length;
}
