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
import { soundOf } from './sound-file.js';

async function read(bytes: Buffer) {
  return (await soundOf([['file', null, { pieces: [bytes], name: 'x' }]])).seconds;
}

const TRACK = Buffer.concat([
  element('d7', Buffer.from([1])),
  element('83', Buffer.from([2])),
  element('86', 'A_OPUS'),
]);

describe('a sound whose parts contradict each other', () => {
  it.each<[string, Buffer, number]>([
    ['the slower of two rates of FLAC', rated(1_000), 197],
    ['fields of a WebM track outside of it', Buffer.concat([silentWebm(999), ...fields()]), 60],
    ['sizes of MP4 in another table', compact(), 100],
    ['a fragment of MP4, by the bytes of the file', withRuns(run(0, 1)), 101],
    ['fragments of the same bytes', withRuns(run(0x201, 1, 0, 75_000), run(0x201, 1, 0, 75_000)), 200],
    ['frames of fragments', withRuns(run(0x301, 2, 0, 9, 6, 9, 6)), 2],
    ['a track of sound with the handler of a text', swapped(silentM4a(1_000), 'soun', 'text'), 128],
    ['a track of sound without a handler', swapped(silentM4a(1_000), 'hdlr', 'free'), 128],
  ])('is held for the longest that a decoder may play: %s', async (_what, bytes, seconds) => {
    const { most } = await read(bytes);
    expect(most).toBeGreaterThanOrEqual(BigInt(seconds));
    expect(most).toBeLessThanOrEqual(BigInt(seconds + 3));
  });

  it.each<[string, Buffer]>([
    ['MP4 whose only track is a video', swapped(silentM4a(1), 'soun', 'vide')],
    ['MP4 with a handler that nobody knows', swapped(withTrack('text'), 'text', 'what')],
    ['MP4 with a text of an unknown codec', withTrack('.mp3')],
    ['MP4 that repeats itself', edited(3)],
    ['MP4 that plays twice', edited(2)],
    [
      'MP4 that repeats itself where few decoders look',
      inTrack(silentM4a(1), box('udta', box('meta', list(3)))),
    ],
    ['MP4 with a fragment where few decoders look', Buffer.concat([silentM4a(1), box('udta', run(0, 1))])],
    ['MP4 with a run of more samples than it has', withRuns(run(0x200, 2, 1))],
    [
      'MP4 with more beside the sound than any decoder reads',
      Buffer.concat([silentM4a(1), box('udta', Buffer.alloc(9_000_000))]),
    ],
    ['MP4 with a box of a track behind it', Buffer.concat([silentM4a(1), box('tkhd', Buffer.alloc(24))])],
    ['MP4 with a box of a track twice', doubled(silentM4a(1))],
    ['FLAC that begins with another block', swapped(silentFlac(3), 'fLaC\x80', 'fLaC\x84')],
    ['Ogg with a second stream at once', Buffer.concat([silentOgg(1), serial(oggPage([]))])],
    ['Ogg with a second stream behind the first', Buffer.concat([silentOgg(1), silentOgg(1)])],
    ['Ogg of FLAC and of another stream', Buffer.concat([oggFlac(), serial(silentOgg(1))])],
    ['Ogg that begins in the middle', oggPage([Buffer.from('OpusHead')])],
    ['Ogg whose heads of pages overlap', Buffer.concat([silentOgg(1), overlapping(1_000)])],
    ['WebM with two numbers for a track', webm(TRACK, element('d7', Buffer.from([2])))],
    ['WebM with more tracks than any', Buffer.concat([silentWebm(1), ...times(200, element('ae', ''))])],
    ['MP4 with more tracks than any', Buffer.concat([silentM4a(1), ...times(200, box('trak'))])],
    ['WebM with a track in a track', webm(TRACK, element('ae', ''))],
    ['WebM with a number of nine bytes', webm(element('d7', Buffer.alloc(9)), TRACK.subarray(4))],
    ['WebM with two scales of time', Buffer.concat([silentWebm(1), scale(), scale()])],
    ['WebM with a scale of time elsewhere', Buffer.concat([silentWebm(1), scale().subarray(6)])],
    ['WebM with a track that is left open', swapped(silentWebm(1), '\xae\x40\x11', '\xae\x7f\xff')],
  ])('is refused if decoders differ: %s', async (_what, bytes) => {
    await expect(read(bytes)).rejects.toThrow(/no length that can be read/);
  });
});

describe('a sound file with more than sound in it', () => {
  it('is counted with a time for each of 200,000 WebM clusters', async () => {
    const cluster = Buffer.concat([silentWebm(100), ...times(200_000, element('e7', '\x01'))]);
    expect((await read(cluster)).likely).toBe(6n);
  });

  it('is counted: a text track, a pause in front, FLAC in Ogg', async () => {
    expect((await read(withTrack('text'))).likely).toBe(128n);
    expect((await read(edited(2, 0xffffffff))).likely).toBe(128n);
    expect((await read(oggFlac())).likely).toBe(9n);
  });
});

/** Three FLAC frames that state no rate, or a different one than their file. */
function rated(rate: number): Buffer {
  const file = silentFlac(3);
  file.writeUInt32BE((rate << 4) * 256, 18);
  return file;
}

/** One FLAC frame in Ogg. */
function oggFlac(): Buffer {
  const flac = silentFlac(1);
  const head = Buffer.concat([Buffer.from('\x7fFLAC\x01\0\0\0', 'latin1'), flac.subarray(0, 42)]);
  return Buffer.concat([oggPage([head], 2), oggPage([flac.subarray(42)])]);
}

/** A page of another stream. */
function serial(page: Buffer): Buffer {
  page.writeUInt32LE(7, 14);
  return page;
}

/** Headers of pages with 255 segments, followed only by the next header. */
function overlapping(pages: number): Buffer {
  const head = oggPage([]);
  head[26] = 255;
  return Buffer.concat(times(pages, head));
}

function times(count: number, part: Buffer): Buffer[] {
  return Array<Buffer>(count).fill(part);
}

function webm(...track: Buffer[]): Buffer {
  const tracks = element('1654ae6b', element('ae', Buffer.concat(track)));
  return Buffer.concat([element('1a45dfa3', element('4282', 'webm')), tracks]);
}

/** Boxes that would make the last track one of a film with another number. */
function fields(): Buffer[] {
  return [element('d7', Buffer.from([9])), element('83', Buffer.from([1])), element('86', 'V_VP8')];
}

/** A timescale of a thousandth of the usual one. */
function scale(): Buffer {
  return element('1549a966', element('2ad7b1', Buffer.from([3, 232])));
}

/** Ten samples whose sizes are in the compact table, and their 75,000 bytes. */
function compact(): Buffer {
  const file = silentM4a(10, 75_000);
  const at = file.indexOf('stsz');
  file.write('stz2', at, 'latin1');
  file.writeUInt32BE(16, at + 8);
  return file;
}

/** Samples of a fragment, with what its flags say about them. */
function run(...values: number[]): Buffer {
  const content = Buffer.alloc(values.length * 4);
  values.forEach((value, index) => content.writeUInt32BE(value, index * 4));
  return box('trun', content);
}

/** Ten frames, and those of a fragment with 75,000 bytes. */
function withRuns(...runs: Buffer[]): Buffer {
  const head = box('tfhd', Buffer.from([0, 0, 0, 0, 0, 0, 0, 1]));
  const media = box('mdat', Buffer.alloc(75_000));
  return Buffer.concat([silentM4a(10), box('moof', box('traf', head, ...runs)), media]);
}

/** Adds a box in front of the others in its track. */
function inTrack(file: Buffer, added: Buffer): Buffer {
  const [moov, trak] = [file.indexOf('moov') - 4, file.indexOf('trak') - 4];
  const grown = Buffer.from(file);
  for (const at of [moov, trak]) grown.writeUInt32BE(file.readUInt32BE(at) + added.length, at);
  return Buffer.concat([grown.subarray(0, trak + 8), added, grown.subarray(trak + 8)]);
}

/** An edit list with this many entries, the first starting at `from`. */
function list(entries: number, from = 0): Buffer {
  const content = Buffer.alloc(8 + entries * 12);
  content.writeUInt32BE(entries, 4);
  content.writeUInt32BE(from, 12);
  return box('elst', content);
}

function edited(entries: number, from = 0): Buffer {
  return inTrack(silentM4a(1_000), box('edts', list(entries, from)));
}

function doubled(file: Buffer): Buffer {
  return inTrack(file, box('tkhd', Buffer.alloc(24)));
}

/** Adds a text track with this codec beside the sound. */
function withTrack(codec: string): Buffer {
  const description = box('stsd', Buffer.from([0, 0, 0, 0, 0, 0, 0, 1]), box(codec, Buffer.alloc(8)));
  const handler = box('hdlr', Buffer.alloc(8), Buffer.from('text'), Buffer.alloc(12));
  const media = box('mdia', handler, box('minf', box('stbl', description)));
  return Buffer.concat([silentM4a(1_000), box('moov', box('trak', media))]);
}

function swapped(file: Buffer, from: string, to: string): Buffer {
  return Buffer.from(file.toString('latin1').replace(from, to), 'latin1');
}
