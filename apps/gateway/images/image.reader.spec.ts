import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { randomBytes } from 'node:crypto';
import { crc32, deflateSync } from 'node:zlib';
import { Transformer } from '@napi-rs/image';
import { systemClock } from '#platform/clock.js';
import { base64Image, imageOfFile, type ReceivedImage } from '../http/input-images.js';
import { ImageReader } from './image.reader.js';

const PARTS = { clock: systemClock, threads: 2, limitMs: 180_000, maxPixels: 128 * 128 };

let reader: ImageReader;
let png: Buffer;
let webp: Buffer;

beforeAll(async () => {
  reader = new ImageReader(PARTS);
  // Noise stays large when compressed, so its bytes have memory of their own, which a thread takes over.
  const pixels = randomBytes(128 * 128 * 4);
  // A native module's memory cannot be handed to a thread, but memory from the network can.
  png = Buffer.from(await Transformer.fromRgbaPixels(pixels, 128, 128).png());
  webp = Buffer.from(await Transformer.fromRgbaPixels(pixels, 128, 128).webp());
});
afterAll(() => reader.close());

/** Headers in hex: a WebP without its first chunk, and a JPEG of this height and width up to its first scan. */
const RIFF_WEBP = '524946460000000057454250';
const LOSSY_FRAME = '565038200a0000000000009d012aff3fff3f';
const CANVAS_OF_ONE = '565038580a00000000000000000000000000';
const ANIMATED = `414e4d4622000000${'00'.repeat(16)}`;
const jpegOf = (sides: string) => `ffd8ffe000040000ffc0001108${sides}03011100021101031101ffda`;

const file = (bytes: Buffer): ReceivedImage => imageOfFile({ pieces: [bytes], name: 'x' }, 'image');
const read = (image: ReceivedImage) => reader.read('someone', image, 1);

describe('an image', () => {
  it('is read whole, as a file or base64, and named after its field and its real type', async () => {
    const ofFile = await read(file(Buffer.from(png)));
    expect(ofFile).toMatchObject({ mime: 'image/png', name: 'image-1.png' });
    expect(ofFile.bytes.equals(png)).toBe(true);
    const ofText = await read(base64Image(`data:image/png;base64,${webp.toString('base64')}`, 'image'));
    expect(ofText).toMatchObject({ mime: 'image/webp', name: 'image-1.webp' });
    expect(ofText.bytes.equals(webp)).toBe(true);
  });

  it('is refused with its field if it is no image, truncated or not base64', async () => {
    const invalid = { code: 'invalid_image', param: 'image' };
    await expect(read(file(Buffer.from('hello')))).rejects.toMatchObject(invalid);
    await expect(read(file(Buffer.from(png.subarray(0, png.length - 20))))).rejects.toMatchObject(invalid);
    await expect(read(base64Image('%%%', 'image'))).rejects.toMatchObject(invalid);
  });

  it('is refused before it is decoded if it claims too many pixels', async () => {
    const message = expect.stringContaining(`at most ${PARTS.maxPixels} pixels`) as string;
    const refusal = { code: 'invalid_image', message };
    await expect(read(file(plain(1_000)))).rejects.toMatchObject(refusal);
    await expect(read(file(plain(100, 16)))).rejects.toMatchObject(refusal);
    await expect(read(file(plain(100)))).resolves.toMatchObject({ mime: 'image/png' });
    await expect(read(file(plain(90, 16)))).resolves.toMatchObject({ mime: 'image/png' });
  });

  it.each([
    ['JPEG', jpegOf('eaeaeaea'), jpegOf('00100010')],
    ['lossy WebP', `${RIFF_WEBP}${LOSSY_FRAME}`, ''],
    ['lossless WebP', `${RIFF_WEBP}5650384c050000002fffffff0f`, ''],
    ['WebP whose frame is larger than its canvas', `${RIFF_WEBP}${CANVAS_OF_ONE}${LOSSY_FRAME}`, ''],
    ['WebP with a large frame in its animation', `${RIFF_WEBP}${CANVAS_OF_ONE}${ANIMATED}${LOSSY_FRAME}`, ''],
    ['extended WebP', `${RIFF_WEBP}565038580a00000000000000ffff00ffff00`, ''],
  ])('is not decoded if the header of a %s claims too many pixels', async (_, large, small) => {
    const tooMany = { message: expect.stringContaining(`at most ${PARTS.maxPixels} pixels`) as string };
    await expect(read(file(Buffer.from(large, 'hex')))).rejects.toMatchObject(tooMany);
    if (small) await expect(read(file(Buffer.from(small, 'hex')))).rejects.not.toMatchObject(tooMany);
  });

  it('is read as JPEG or WebP of each kind if it is small enough', async () => {
    const image = Transformer.fromRgbaPixels(randomBytes(128 * 128 * 4), 128, 128);
    for (const bytes of [await image.jpeg(), await image.webp(), await image.webpLossless()])
      await expect(read(file(Buffer.from(bytes)))).resolves.toMatchObject({
        bytes: { length: bytes.length },
      });
  });

  it('is refused if it is so narrow that vendors would cut it into more tiles than are held for', async () => {
    const strip = (width: number, height: number) =>
      Transformer.fromRgbaPixels(Buffer.alloc(width * height * 4), width, height).png();
    for (const [width, height] of [
      [99, 3],
      [3, 99],
    ] as const) {
      await expect(read(file(Buffer.from(await strip(width, height))))).rejects.toMatchObject({
        code: 'invalid_image',
        message: expect.stringContaining('at most 32 times'),
      });
    }
    await expect(read(file(Buffer.from(await strip(96, 3))))).resolves.toMatchObject({ mime: 'image/png' });
  });

  it('leaves its thread to the next one if it is refused', async () => {
    const asked = Array.from({ length: 12 }, (_, index) =>
      read(file(index % 2 ? Buffer.from('broken') : Buffer.from(png))).then(
        () => 'read',
        () => 'refused',
      ),
    );
    expect(await Promise.all(asked)).toEqual(
      Array.from({ length: 12 }, (_, index) => (index % 2 ? 'refused' : 'read')),
    );
  });
});

describe('images that stay in their request', () => {
  it('keep their bytes, although a thread has read them', async () => {
    const image = file(Buffer.from(png));
    await reader.check('someone', [image, image]);
    expect(Buffer.concat([...image.pieces]).equals(png)).toBe(true);
  });

  it('may be GIFs, and are not read for a client that has left', async () => {
    const gif = base64Image(Buffer.from('GIF89a and so on').toString('base64'), 'messages');
    await reader.check('someone', [gif]);
    await expect(read(gif)).rejects.toMatchObject({ code: 'invalid_image' });
    const broken = base64Image('%%%', 'messages');
    await expect(reader.check('someone', [broken])).rejects.toMatchObject({ param: 'messages' });
    await reader.check('someone', [broken], AbortSignal.abort());
  });
});

/** A square PNG of a few bytes, with as many bits per channel. */
function plain(side: number, bits = 8): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(side, 0);
  head.writeUInt32BE(side, 4);
  head.set([bits, 6, 0, 0, 0], 8);
  const data = deflateSync(Buffer.alloc(side * (1 + (side * bits) / 2)));
  return Buffer.concat([
    png.subarray(0, 8),
    chunk('IHDR', head),
    chunk('IDAT', data),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}
