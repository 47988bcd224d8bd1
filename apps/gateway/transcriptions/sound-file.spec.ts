import { describe, expect, it } from 'vitest';
import {
  box,
  element,
  oggPage,
  silentFlac,
  silentM4a,
  silentOgg,
  silentWebm,
} from '../../../test/support/sound-containers.js';
import { silentMp3, silentWav, wavHead } from '../../../test/support/sounds.js';
import { soundOf } from './sound-file.js';

const MB = 1024 * 1024;

/** Reads it as from a form, in pieces that cut through its headers. */
async function read(bytes: Buffer) {
  const pieces = [bytes.subarray(0, 10), bytes.subarray(10, 50), bytes.subarray(50)];
  return (await soundOf([['file', null, { pieces, name: 'x' }]])).seconds;
}

const tag = (bytes: number, flags = 0) =>
  Buffer.concat([Buffer.from([0x49, 0x44, 0x33, 4, 0, flags, 0, 0, bytes >> 7, bytes & 0x7f])]);
const wav = (head: { rate: number; bits: number; bytes: number }, bytes: number) =>
  Buffer.concat([wavHead(head), Buffer.alloc(bytes)]);
/** A different sample format code, with different bits. */
function coded(code: number, { bits = 16, bytes = 32_000 } = {}): Buffer {
  const file = wav({ rate: 8_000, bits: 16, bytes }, bytes);
  file.writeUInt16LE(code, 20);
  file.writeUInt16LE(bits, 34);
  return file;
}
/** A WAV chunk between the format and the data. */
function chunked(chunk: Buffer): Buffer {
  const file = wav({ rate: 8_000, bits: 16, bytes: 0 }, 32_000);
  return Buffer.concat([file.subarray(0, 36), chunk, file.subarray(36)]);
}
/** Frames of 72 bytes for 72 milliseconds: 8 kbit/s at 8,000 samples per second. */
const slowMp3 = (frames: number) => {
  const frame = Buffer.alloc(72);
  frame.writeUInt32BE(0xffe318c4);
  return Buffer.concat(Array<Buffer>(frames).fill(frame));
};

describe('the length of a sound', () => {
  it.each<[string, Buffer, number]>([
    ['a WAV file', silentWav(3.2), 4],
    ['one whose header says that it has no samples', wav({ rate: 8_000, bits: 16, bytes: 0 }, 32_000), 2],
    ['one that never ends', wav({ rate: 8_000, bits: 16, bytes: 2 ** 32 - 1 }, 32_000), 2],
    ['one with few samples per second', wav({ rate: 10, bits: 8, bytes: 0 }, 5_000), 500],
    ['one behind a tag', Buffer.concat([tag(20), Buffer.alloc(20), silentWav(3.2)]), 4],
    ['one with a long chunk before its data', chunked(chunk('JUNK', Buffer.alloc(100_000))), 2],
    ['one of several chunks of data', Buffer.concat([silentWav(1), chunk('data', Buffer.alloc(16_000))]), 3],
    ['an MP3 file of 10 seconds', silentMp3(383), 11],
    ['one behind a tag', Buffer.concat([tag(2_048), Buffer.alloc(2_048, 0xff), silentMp3(383)]), 11],
    ['one behind a tag and zeros', Buffer.concat([tag(0), Buffer.alloc(3_000), silentMp3(383)]), 11],
    [
      'one with something else inside',
      Buffer.concat([silentMp3(200), Buffer.alloc(3_000), silentMp3(183)]),
      11,
    ],
    ['one with a long picture inside', Buffer.concat([silentMp3(200), Buffer.alloc(MB), silentMp3(183)]), 11],
    ['a FLAC file', silentFlac(3), 25],
    ['one behind a tag', Buffer.concat([tag(5), Buffer.alloc(5), silentFlac(3)]), 25],
    ['an Ogg file of Opus', silentOgg(990), 60],
    ['a WebM file that a browser records', silentWebm(999), 60],
    ['an M4A file', silentM4a(1_000), 128],
  ])('is counted: %s', async (_what, bytes, seconds) => {
    const length = await read(bytes);
    expect(length.likely).toBe(BigInt(seconds));
    expect(length.most).toBeGreaterThanOrEqual(BigInt(seconds));
    expect(length.most).toBeLessThanOrEqual(BigInt(seconds + 2));
  });

  it('is at least a second', async () => {
    expect(await read(silentM4a(1))).toEqual({ most: 2n, likely: 1n });
  });

  it.each([
    ['a day of samples', wav({ rate: 1, bits: 8, bytes: 0 }, MB)],
    ['silence', silentFlac(11_000)],
    [
      'times of pages',
      Buffer.concat([silentOgg(1), timed(oggPage([]), 48_000n), timed(oggPage([]), 2n ** 60n)]),
    ],
  ])('is limited: %s', async (_what, bytes) => {
    await expect(read(bytes)).rejects.toThrow(/at most 86400 seconds/);
  });
});

describe('what is held for a sound', () => {
  it.each<[string, Buffer, number]>([
    ['telephone codes have a byte for a sample, whatever the head says', coded(7, { bits: 64 }), 4],
    ['of two formats the longer counts', chunked(chunk('fmt ', format(100))), 160],
    ['so does a size of blocks that does not fit', blocks(1), 4],
    ['ADPCM may hold four samples in a byte', coded(0x11), 16],
    ['frames of MP3 that others hide, which decoders that begin elsewhere play', hiddenFrames(0), 72],
    ['those behind a tag with its own end', Buffer.concat([tag(0, 0x10), hiddenFrames(10)]), 72],
    ['those inside of a tag', Buffer.concat([tag(7_200), slowMp3(100), silentMp3(1)]), 7],
    ['frames of AAC behind one of MP3', Buffer.concat([silentMp3(1), aac(1_000)]), 128],
    ['frames of layer II', Buffer.concat([silentMp3(1), layerTwo(100)]), 14],
    ['frames of MP3 without a bit rate', Buffer.concat([silentMp3(1), open(1_000)]), 72],
    ['AAC whose bytes could hold more frames', silentM4a(10, 75_000), 100],
    [
      'times of pages',
      Buffer.concat([silentOgg(1), timed(oggPage([]), 0n), timed(oggPage([]), 480_000n)]),
      10,
    ],
    ['laced frames', Buffer.concat([silentWebm(1), element('a3', Buffer.from([0x81, 0, 0, 2, 255]))]), 30],
  ])('is the most that it may come to: %s', async (_what, bytes, seconds) => {
    const { most } = await read(bytes);
    expect(most).toBeGreaterThanOrEqual(BigInt(seconds));
    expect(most).toBeLessThanOrEqual(BigInt(seconds + 3));
  });

  it.each<[string, Buffer]>([
    ['WAV with an unknown code', coded(0x55)],
    ['WAV without a format', Buffer.concat([silentWav(1).subarray(0, 12), chunk('data', Buffer.alloc(9))])],
    ['WAV with no samples per second', wav({ rate: 0, bits: 16, bytes: 0 }, 100)],
    ['WAV with more chunks than any program writes', Buffer.concat([silentWav(1).subarray(0, 12), many()])],
    ['Ogg of an unknown codec', oggPage([Buffer.from('Speex   1.2')], 2)],
    ['WebM with an unknown codec', swapped(silentWebm(1), 'A_OPUS', 'A_AAC\0')],
    ['WebM with compressed frames', Buffer.concat([silentWebm(1), element('6d80', Buffer.alloc(2))])],
    ['WebM without a track', element('1a45dfa3', element('4282', 'webm'))],
    ['MP4 with an unknown codec', swapped(silentM4a(1), 'mp4a', 'lpcm')],
    ['MP4 with a compressed index', Buffer.concat([silentM4a(1), box('moov', box('cmov'))])],
    ['MP4 without a track', box('ftyp', Buffer.from('M4A '))],
    ['MP4 whose tables are longer than it', swapped(silentM4a(1_000), 'stsz', 'stts')],
    ['FLAC without a frame', silentFlac(0)],
  ])('cannot be known, and nothing is sent: %s', async (_what, bytes) => {
    await expect(read(bytes)).rejects.toThrow(/no length that can be read/);
  });

  it('does not count a box that its parent is too short for, nor those after the parent', async () => {
    const long = box('free', Buffer.alloc(8));
    long.writeUInt32BE(2 ** 31, 0);
    const hiding = Buffer.concat([silentM4a(1), box('moov', long), silentM4a(1_000).subarray(20)]);
    expect((await read(hiding)).most).toBeGreaterThanOrEqual(128n);
  });
});

describe('a file', () => {
  it.each([
    ['nothing', Buffer.alloc(0)],
    ['a web page', Buffer.from('<!doctype html>')],
    ['AAC without a container', Buffer.from('fff15080', 'hex')],
    ['the same behind a tag', Buffer.concat([tag(0), aac(3)])],
    ['something else behind a tag', Buffer.concat([tag(0), Buffer.from('#!AMR\n'), silentMp3(10)])],
    ['a tag that is longer than its file', Buffer.concat([tag(16_000), silentMp3(10)])],
    [
      'a tag that ends in the middle of a frame',
      Buffer.concat([tag(9), silentMp3(10).map((byte) => byte || 1)]),
    ],
    ['more tags than any program writes', Buffer.concat([...Array<Buffer>(17).fill(tag(0)), silentMp3(10)])],
    ['an AVI film', Buffer.from('RIFF\0\0\0\0AVI ')],
  ])('that is no sound is refused by its bytes: %s', async (_what, bytes) => {
    await expect(read(bytes)).rejects.toThrow(/file must be a flac, mp3/);
  });

  it('is the one with the right name, and the only one', async () => {
    const file = { pieces: [silentWav(1)], name: 'a' };
    await expect(soundOf([])).rejects.toThrow(/file is required/);
    await expect(soundOf([['sound', null, file]])).rejects.toThrow(/file is required/);
    const two = [
      ['file', null, file],
      ['other', null, file],
    ] as const;
    await expect(soundOf(two)).rejects.toThrow(/only file/);
  });

  it.each([
    ['frames', Buffer.alloc(8 * MB, Buffer.from('fffb00', 'hex'))],
    ['times and sizes', tables()],
    ['fragments', Buffer.concat([box('ftyp', Buffer.alloc(8)), runs()])],
    ['unread boxes', Buffer.concat([box('ftyp', Buffer.alloc(8)), box('udta', Buffer.alloc(7 * MB))])],
    [
      'blocks',
      Buffer.concat([silentWebm(1), ...Array<Buffer>(200_000).fill(Buffer.from('a38481000080', 'hex'))]),
    ],
  ])('of many %s is read in turns, so that others are served meanwhile', async (_, file) => {
    expect(await turnsWhile(() => read(file))).toBeGreaterThan(10);
  });

  it('of nothing but headers is read in more turns', async () => {
    const file = Buffer.alloc(MB, Buffer.from('fff8', 'hex'));
    expect(await turnsWhile(() => read(Buffer.concat([silentFlac(1), file])))).toBeGreaterThan(100);
  });
});

/** How often others got a turn, whatever came out. */
async function turnsWhile(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let isDone = false;
  const count = () => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  await work().catch(() => undefined);
  isDone = true;
  return turns;
}

function chunk(id: string, content: Buffer): Buffer {
  const head = Buffer.from(`${id}\0\0\0\0`, 'latin1');
  head.writeUInt32LE(content.length, 4);
  return Buffer.concat([head, content]);
}

const RUN_SAMPLES = 100_000;

/** Eight tracks with tables of a hundred thousand entries each. */
function tables(): Buffer {
  const times = Buffer.alloc(8 + RUN_SAMPLES * 8);
  times.writeUInt32BE(RUN_SAMPLES, 4);
  const sizes = Buffer.alloc(12 + RUN_SAMPLES * 4);
  sizes.writeUInt32BE(RUN_SAMPLES, 8);
  const track = box('trak', Buffer.concat([box('stts', times), box('stsz', sizes)]));
  return Buffer.concat([box('ftyp', Buffer.alloc(8)), ...Array<Buffer>(8).fill(track)]);
}

/** Ten fragments, each with a hundred thousand samples that state their size. */
function runs(): Buffer {
  const run = Buffer.alloc(8 + RUN_SAMPLES * 4);
  run.writeUInt32BE(0x200, 0);
  run.writeUInt32BE(RUN_SAMPLES, 4);
  return Buffer.concat(Array<Buffer>(10).fill(box('moof', box('traf', box('trun', run)))));
}

/** This many samples per second, each of 16 bits. */
function format(rate: number): Buffer {
  return wavHead({ rate, bits: 16, bytes: 0 }).subarray(20, 36);
}

/** WAV whose blocks state their length. */
function blocks(bytes: number): Buffer {
  const file = silentWav(2);
  file.writeUInt16LE(bytes, 32);
  return file;
}

function many(): Buffer {
  return Buffer.concat(Array<Buffer>(2_000).fill(chunk('JUNK', Buffer.alloc(0))));
}

/**
 * A thousand slow frames, of which every twenty are inside what looks like one frame of 1,440 bytes and 36
 * milliseconds.
 */
function hiddenFrames(gap: number): Buffer {
  const head = Buffer.alloc(4 + gap);
  head.writeUInt32BE(0xfffbe8c4);
  return Buffer.concat(Array.from({ length: 50 }, () => Buffer.concat([head, slowMp3(20)])));
}

/** AAC frames of 13 bytes, each 0.128 seconds long. */
function aac(frames: number): Buffer {
  return Buffer.concat(Array<Buffer>(frames).fill(Buffer.from('fff16c4001a0fc000000000000', 'hex')));
}

/** Frames of 144 bytes for 144 milliseconds: 8 kbit/s at 8,000 samples per second. */
function layerTwo(frames: number): Buffer {
  const frame = Buffer.alloc(144);
  frame.writeUInt32BE(0xffe518c4);
  return Buffer.concat(Array<Buffer>(frames).fill(frame));
}

/** Frames of 20 bytes for 72 milliseconds, whose headers leave the bit rate open. */
function open(frames: number): Buffer {
  const frame = Buffer.alloc(20);
  frame.writeUInt32BE(0xffe308c4);
  return Buffer.concat(Array<Buffer>(frames).fill(frame));
}

function timed(page: Buffer, sample: bigint): Buffer {
  page.writeBigUInt64LE(sample, 6);
  return page;
}

function swapped(file: Buffer, from: string, to: string): Buffer {
  return Buffer.from(file.toString('latin1').replace(from, to), 'latin1');
}
