import { MOST_OPUS_SECONDS } from './packets.js';
import type { SoundBytes } from './sound-bytes.js';

/** Samples per second, by four bits of the AAC header; other values are followed by the rate, which may be anything. */
const AAC_RATES = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
];
const AAC_SAMPLES = 1_024;
/** AAC of MPEG-4, and the three of MPEG-2. */
const AAC_KINDS = [0x40, 0x66, 0x67, 0x68];
/** Main, low complexity, scalable rate, long term prediction, and the two with a coded upper half. */
const AAC_PROFILES = [1, 2, 3, 4, 5, 29];
/** A description with its tables; a longer one is not of audio. */
const MOST_ENTRY_BYTES = 4_096;

/**
 * The codec of a track; null if there are several descriptions, which no recorder writes: frames could refer to any of
 * them.
 */
export function codecOf(bytes: SoundBytes, content: number): string | null {
  return bytes.big(content + 4, 4) === 1 ? bytes.text(content + 12, 4) : null;
}

/** The most seconds of a frame, by the description of a track; null for unknown codecs and headers. */
export function frameSecondsOf(bytes: SoundBytes, content: number, end: number): number | null {
  const codec = codecOf(bytes, content);
  const entry = content + 8;
  const text = bytes.text(entry, Math.min(end - entry, MOST_ENTRY_BYTES));
  if (codec === 'Opus') return MOST_OPUS_SECONDS;
  if (codec === 'alac') return slowest(bytes, entry, { text, name: 'alac', secondsAt: alacSeconds });
  return codec === 'mp4a' ? slowest(bytes, entry, { text, name: 'esds', secondsAt: aacSeconds }) : null;
}

/** If there are several headers of that name, the one with the longest frames: decoders differ in which they read. */
function slowest(
  bytes: SoundBytes,
  entry: number,
  head: { text: string; name: string; secondsAt: (bytes: SoundBytes, at: number) => number | null },
): number | null {
  const { text, name, secondsAt } = head;
  let most: number | null = null;
  for (let from = text.indexOf(name, 8); from >= 0; from = text.indexOf(name, from + 1)) {
    const seconds = secondsAt(bytes, entry + from + name.length + 4);
    if (seconds === null) return null;
    most = Math.max(most ?? 0, seconds);
  }
  return most;
}

function alacSeconds(bytes: SoundBytes, at: number): number | null {
  const rate = bytes.big(at + 20, 4);
  return rate > 0 ? bytes.big(at, 4) / rate : null;
}

/** Nested descriptors: of the stream, of its decoder, and of the decoder's settings. */
function aacSeconds(bytes: SoundBytes, at: number): number | null {
  const stream = descriptorAt(bytes, at, 0x03);
  if (stream === null || bytes.at(stream + 2) & 0xe0) return null;
  const decoder = descriptorAt(bytes, stream + 3, 0x04);
  if (decoder === null || !AAC_KINDS.includes(bytes.at(decoder))) return null;
  const specific = descriptorAt(bytes, decoder + 13, 0x05);
  if (specific === null) return null;
  const head = bytes.big(specific, 2);
  const rate = AAC_RATES[(head >> 7) & 15];
  return AAC_PROFILES.includes(head >> 11) && rate !== undefined ? AAC_SAMPLES / rate : null;
}

/** Where the content of a descriptor begins, after its tag and up to four bytes of length. */
function descriptorAt(bytes: SoundBytes, at: number, tag: number): number | null {
  if (bytes.at(at) !== tag) return null;
  for (let width = 1; width <= 4; width += 1) if (bytes.at(at + width) < 0x80) return at + width + 1;
  return null;
}
