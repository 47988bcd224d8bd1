import { flacLength } from './flac-frames.js';
import { MOST_OPUS_SECONDS, opusSeconds, vorbisSeconds } from './packets.js';
import type { SoundBytes, SoundLength } from './sound-bytes.js';

const HEAD_BYTES = 27;
const [CONTINUED, FIRST] = [1, 2];
const OPUS_RATE = 48_000;
const NO_TIME = 2 ** 64;

/** One of the streams of a file. */
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
 * The length of an Ogg file of Opus, Vorbis or FLAC: each packet of each page counts, wherever a page begins and however many
 * streams there are, and the times that the pages state if they are longer. Null for other codecs.
 */
export async function oggLength(bytes: SoundBytes, start: number): Promise<SoundLength | null> {
  const codecAt = start + HEAD_BYTES + bytes.at(start + HEAD_BYTES - 1);
  if (bytes.text(codecAt, 5) === '\x7fFLAC') return flacLength(bytes, codecAt + '\x7fFLAC....'.length);
  const streams = new Map<number, Stream>();
  let isUnderstood = true;
  await bytes.each('O'.charCodeAt(0), (at) => {
    if (bytes.big(at, 4) !== 0x4f676753 || bytes.at(at + 4) !== 0) return;
    isUnderstood &&= addPage(bytes, at, streams);
  });
  const all = [...streams.values()];
  if (!isUnderstood || all.length === 0) return null;
  const sum = (secondsOf: (stream: Stream) => number) =>
    all.reduce((total, one) => total + secondsOf(one), 0);
  return {
    most: sum((stream) => Math.max(stream.seconds, statedSeconds(stream))),
    likely: sum((stream) =>
      stream.isOpus ? stream.seconds : Math.min(stream.seconds, statedSeconds(stream)),
    ),
  };
}

function statedSeconds({ firstSample, lastSample, rate }: Stream): number {
  return lastSample > firstSample ? (lastSample - firstSample) / rate : 0;
}

/** False for a page of a stream that nothing is known of. */
function addPage(bytes: SoundBytes, at: number, streams: Map<number, Stream>): boolean {
  const [flags, serial, segments] = [bytes.at(at + 5), bytes.little(at + 14, 4), bytes.at(at + 26)];
  const content = at + HEAD_BYTES + segments;
  const known = streams.get(serial);
  const stream = flags & FIRST || !known ? begun(bytes, content, known) : known;
  if (!stream) return false;
  streams.set(serial, stream);
  addPackets(bytes, { at, content, segments, flags }, stream);
  const sample = bytes.little(at + 6, 8);
  // The highest bit says that no packet ends on the page.
  if (sample < NO_TIME / 2) {
    stream.firstSample = Math.min(stream.firstSample, sample);
    stream.lastSample = Math.max(stream.lastSample, sample);
  }
  return true;
}

/** What was counted of a stream stays when another begins under its number, and so does the longest packet. */
function begun(bytes: SoundBytes, at: number, known: Stream | undefined): Stream | null {
  const perPacket = vorbisSeconds(bytes, at);
  const isOpus = bytes.text(at, 8) === 'OpusHead';
  if (perPacket === null && !isOpus) return null;
  const rate = isOpus ? OPUS_RATE : bytes.little(at + 12, 4);
  return {
    isOpus: isOpus || known?.isOpus === true,
    perPacket: Math.max(perPacket ?? 0, known?.perPacket ?? 0),
    rate: Math.min(rate, known?.rate ?? Infinity),
    seconds: known?.seconds ?? 0,
    firstSample: known?.firstSample ?? Infinity,
    lastSample: known?.lastSample ?? 0,
  };
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
