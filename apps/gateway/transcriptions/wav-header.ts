import type { SoundBytes, SoundLength } from './sound-bytes.js';

/** PCM and floats, whose sample size is in the header. */
const PLAIN_CODES = [1, 3];
/** The two telephone codecs: one byte per sample, whatever the header says. */
const BYTE_CODES = [6, 7];
/** The most samples per byte: ADPCM of two bits, and the shortest blocks of GSM. */
const SAMPLES_PER_BYTE = new Map([
  [2, 4],
  [0x11, 4],
  [0x31, 8],
]);
/** The codec is at the start of the format's extension. */
const EXTENSIBLE = 0xfffe;
const EXTENSION_AT = 24;
const LEAST_FORMAT_BYTES = 16;
/** The range that decoders accept. Beyond it, it is unclear how they read the header. */
const MOST = { channels: 64, bits: 64, rate: 768_000 };
/** Recorders write only a few. */
const MOST_CHUNKS = 1_000;

interface Rates {
  /** The fewest bytes per second, by any reading of the header. */
  least: number;
  likely: number;
}

/**
 * The length of a WAV file; null if it is not understood. All bytes after the data header count, whatever length it states:
 * no decoder plays more. If there are several formats, the longest result counts, because decoders differ in which they
 * use.
 */
export function wavLength(bytes: SoundBytes, start: number): SoundLength | null {
  let slowest: Rates | null = null;
  let at = start + 12;
  for (let chunks = 0; chunks < MOST_CHUNKS && at + 8 <= bytes.length; chunks += 1) {
    const id = bytes.text(at, 4);
    const size = bytes.little(at + 4, 4);
    const content = at + 8;
    if (id === 'data') {
      const data = bytes.length - content;
      return slowest && { most: data / slowest.least, likely: data / slowest.likely };
    }
    if (id === 'fmt ') {
      const rates = ratesOf(bytes, content, size);
      if (!rates) return null;
      if (!slowest || rates.least < slowest.least) slowest = rates;
    }
    at = content + size + (size % 2);
  }
  return null;
}

function ratesOf(bytes: SoundBytes, at: number, size: number): Rates | null {
  if (size < LEAST_FORMAT_BYTES) return null;
  const [stated, channels, rate] = [bytes.little(at, 2), bytes.little(at + 2, 2), bytes.little(at + 4, 4)];
  const [perSecond, perBlock, bits] = [
    bytes.little(at + 8, 4),
    bytes.little(at + 12, 2),
    bytes.little(at + 14, 2),
  ];
  const isExtended = stated === EXTENSIBLE && size >= EXTENSION_AT + 2;
  const code = isExtended ? bytes.little(at + EXTENSION_AT, 2) : stated;
  if (channels < 1 || channels > MOST.channels || rate < 1 || rate > MOST.rate) return null;
  const samplesPerByte = SAMPLES_PER_BYTE.get(code);
  if (samplesPerByte !== undefined) {
    const least = (rate * channels) / samplesPerByte;
    return { least, likely: Math.max(perSecond, least) };
  }
  const isPlain = PLAIN_CODES.includes(code) && bits >= 1 && bits <= MOST.bits;
  if (!isPlain && !BYTE_CODES.includes(code)) return null;
  const likely = rate * channels * (isPlain ? Math.ceil(bits / 8) : 1);
  // Some decoders trust the block size, others the bytes per second: in an honest header they agree.
  return { least: Math.min(likely, rate * perBlock || Infinity, perSecond || Infinity), likely };
}
