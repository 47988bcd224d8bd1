import { flacLength } from './flac-frames.js';
import { MOST_OPUS_SECONDS, opusSeconds, vorbisSeconds } from './packets.js';
import type { SoundBytes, SoundLength } from './sound-bytes.js';

const HEAD_BYTES = 27;
const [FLAGS_AT, SERIAL_AT] = [5, 14];
const [CONTINUED, FIRST] = [1, 2];
const OPUS_RATE = 48_000;
const NO_TIME = 2 ** 64;

interface Stream {
  isOpus: boolean;
  /** The most seconds of a packet, of Vorbis. */
  perPacket: number;
  rate: number;
  seconds: number;
  firstSample: number;
  lastSample: number;
}

/**
 * The length of an Ogg file with one stream of Opus, Vorbis or FLAC: each packet of each page counts, wherever a page
 * begins, or the times stated by the pages if they are longer. Null for other codecs and for several streams, consecutive
 * or parallel: decoders differ in which of them they play.
 */
export async function oggLength(bytes: SoundBytes, start: number): Promise<SoundLength | null> {
  const codecAt = start + HEAD_BYTES + bytes.at(start + HEAD_BYTES - 1);
  const isFlac = bytes.text(codecAt, 5) === '\x7fFLAC';
  const stream = begun(bytes, codecAt);
  if ((!isFlac && !stream) || !(await readPages(bytes, start, stream))) return null;
  if (!stream) return flacLength(bytes, codecAt + '\x7fFLAC....'.length);
  const stated = statedSeconds(stream);
  const { seconds, isOpus } = stream;
  return { most: Math.max(seconds, stated), likely: isOpus ? seconds : Math.min(seconds, stated) };
}

/**
 * False for a page of another stream. A decoder that finds a damaged page looks for the next one inside it, so pages may
 * overlap. Their headers may not, or the same bytes would be counted again and again.
 */
async function readPages(bytes: SoundBytes, start: number, stream: Stream | null): Promise<boolean> {
  const serial = bytes.big(start + SERIAL_AT, 4);
  let isOne = true;
  let behindHead = 0;
  await bytes.each('O'.charCodeAt(0), (at) => {
    if (!isOne || bytes.big(at, 4) !== 0x4f676753 || bytes.at(at + 4) !== 0) return;
    const isFirst = (bytes.at(at + FLAGS_AT) & FIRST) !== 0;
    const isOwn = isFirst === (at === start) && bytes.big(at + SERIAL_AT, 4) === serial;
    isOne = isOwn && at >= behindHead;
    behindHead = at + HEAD_BYTES + bytes.at(at + HEAD_BYTES - 1);
    if (isOne && stream) addPage(bytes, at, stream);
  });
  return isOne;
}

function statedSeconds({ firstSample, lastSample, rate }: Stream): number {
  return lastSample > firstSample ? (lastSample - firstSample) / rate : 0;
}

function addPage(bytes: SoundBytes, at: number, stream: Stream): void {
  const [flags, segments] = [bytes.at(at + FLAGS_AT), bytes.at(at + HEAD_BYTES - 1)];
  addPackets(bytes, { at, content: at + HEAD_BYTES + segments, segments, flags }, stream);
  const sample = bytes.little(at + 6, 8);
  // The highest bit says that no packet ends on the page.
  if (sample >= NO_TIME / 2) return;
  stream.firstSample = Math.min(stream.firstSample, sample);
  stream.lastSample = Math.max(stream.lastSample, sample);
}

/** By the head of its codec; null where that is neither Opus nor Vorbis. */
function begun(bytes: SoundBytes, at: number): Stream | null {
  const perPacket = vorbisSeconds(bytes, at);
  const isOpus = bytes.text(at, 8) === 'OpusHead';
  if (perPacket === null && !isOpus) return null;
  const rate = isOpus ? OPUS_RATE : bytes.little(at + 12, 4);
  return { isOpus, perPacket: perPacket ?? 0, rate, seconds: 0, firstSample: Infinity, lastSample: 0 };
}

interface Page {
  at: number;
  content: number;
  segments: number;
  flags: number;
}

/** A packet ends with a segment that is not full; of one that began on the page before only its most is known. */
function addPackets(bytes: SoundBytes, { at, content, segments, flags }: Page, stream: Stream): void {
  let from = content;
  let isWhole = (flags & CONTINUED) === 0;
  for (let index = 0, end = content; index < segments; index += 1) {
    const length = bytes.at(at + HEAD_BYTES + index);
    end += length;
    if (length === 255) continue;
    const ofOpus = stream.isOpus ? (isWhole ? opusSeconds(bytes, from) : MOST_OPUS_SECONDS) : 0;
    stream.seconds += Math.max(ofOpus, stream.perPacket);
    from = end;
    isWhole = true;
  }
}
