import type { SoundBytes, SoundLength } from './sound-bytes.js';

/** Kilobits per second by four bits of a frame header, for each layer of version 1 and of the others; 0 means free. */
const KILOBITS = {
  one: {
    1: [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
    2: [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
    3: [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  },
  two: {
    1: [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
    2: [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
    3: [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
  },
};
/** Samples per second of version 1; version 2 has half of them, and 2.5 a quarter. */
const RATES = [44_100, 48_000, 32_000];
/** By the two bits of the version. */
const PARTS_OF_RATE = [4, 0, 2, 1];
/** If the bit rate is free, decoders look for the next header. No frame of any layer is shorter. */
const LEAST_OPEN_BYTES = 8;
/** Of AAC, whose frames have the same beginning and a layer of 0. */
const AAC_RATES = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
];
const AAC_SAMPLES = 1_024;
const AAC_HEAD_BYTES = 7;
/** More than the bytes of any frame. */
const RING = 16_384;

interface Frame {
  bytes: number;
  seconds: number;
}

/**
 * The length of an MP3 file; null if there is no frame. Neither headers nor the position of the first frame are trusted:
 * decoders differ in which tags they skip and how they treat junk. So the maximum is the longest sequence of frames that do
 * not overlap, of every layer and of AAC, wherever they begin; a false header inside a true frame adds a little. The likely
 * length is read from the front, frame after frame.
 */
export async function mp3Length(bytes: SoundBytes, start: number): Promise<SoundLength | null> {
  /** By where a sequence ends, within the length of a frame. */
  const ends = new Float64Array(RING);
  let most = 0;
  let likely = 0;
  let passed = 0;
  let next = start;
  const passTo = (offset: number) => {
    const from = Math.max(passed, offset - RING + 1);
    for (let at = from; at <= offset; at += 1) {
      const ended = ends[at % RING] ?? 0;
      if (ended > most) most = ended;
      ends[at % RING] = 0;
    }
    passed = offset + 1;
  };
  await bytes.each(0xff, (offset) => {
    const frame = frameAt(bytes, offset);
    if (!frame) return;
    passTo(offset);
    const end = (offset + frame.bytes) % RING;
    ends[end] = Math.max(ends[end] ?? 0, most + frame.seconds);
    if (offset < next || !isOfLayer(bytes, offset)) return;
    likely += frame.seconds;
    next = offset + frame.bytes;
  });
  most = ends.reduce((longest, ended) => Math.max(longest, ended), most);
  return likely > 0 ? { most, likely } : null;
}

function isOfLayer(bytes: SoundBytes, at: number): boolean {
  return (bytes.at(at + 1) & 0x06) !== 0;
}

/** The frame whose header is here. Most positions have none, so the cheapest test comes first. */
function frameAt(bytes: SoundBytes, at: number): Frame | null {
  const second = bytes.at(at + 1);
  if ((second & 0xe0) !== 0xe0) return null;
  const layer = 4 - ((second >> 1) & 3);
  if (layer === 4) return (second & 0xf0) === 0xf0 ? aacFrameAt(bytes, at) : null;
  const third = bytes.at(at + 2);
  const part = PARTS_OF_RATE[(second >> 3) & 3] ?? 0;
  const rate = (RATES[(third >> 2) & 3] ?? 0) / part;
  const table = (part === 1 ? KILOBITS.one : KILOBITS.two)[layer as 1 | 2 | 3];
  const kilobits = table[third >> 4];
  if (part === 0 || rate === 0 || kilobits === undefined) return null;
  const samples = layer === 1 ? 384 : layer === 3 && part !== 1 ? 576 : 1_152;
  const seconds = samples / rate;
  if (kilobits === 0) return { bytes: LEAST_OPEN_BYTES, seconds };
  const padding = (third >> 1) & 1;
  const slots = Math.floor((samples * kilobits * 125) / rate / (layer === 1 ? 4 : 1)) + padding;
  return { bytes: layer === 1 ? slots * 4 : slots, seconds };
}

function aacFrameAt(bytes: SoundBytes, at: number): Frame | null {
  const rate = AAC_RATES[(bytes.at(at + 2) >> 2) & 15];
  const length = (bytes.big(at + 3, 3) >> 5) & 0x1fff;
  if (rate === undefined || length < AAC_HEAD_BYTES) return null;
  const blocks = (bytes.at(at + 6) & 3) + 1;
  return { bytes: length, seconds: (blocks * AAC_SAMPLES) / rate };
}
