import type { SoundBytes, SoundLength } from './sound-bytes.js';

/** Hertz by the code in a frame header. The first means the rate of the file, and three are written after the header. */
const RATES = [0, 88_200, 176_400, 192_000, 8_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000];
const [RATE_IN_KILOHERTZ, RATE_IN_HERTZ, RATE_IN_TENS] = [12, 13, 14];
/** The ways to encode channels. */
const CHANNEL_CODES = 11;
/** After the first four bytes of the file: the first block has the rate, as every decoder demands. */
const FIRST_BLOCK_AT = 4;
const STREAM_INFO_AT = 8;
const CRC_POLYNOMIAL = 0x07;

/**
 * The length of FLAC, from its frame headers: seconds of silence take a few bytes, so the file size says nothing, and its
 * stated length can be false. Each header has a checksum, and whatever passes it counts. The lower of the rates of file and
 * frame counts, because decoders differ in which they use.
 */
export async function flacLength(bytes: SoundBytes, start: number): Promise<SoundLength | null> {
  if ((bytes.at(start + FIRST_BLOCK_AT) & 0x7f) !== 0) return null;
  const ownRate = bytes.big(start + STREAM_INFO_AT + 10, 3) >> 4;
  if (ownRate === 0) return null;
  let seconds = 0;
  await bytes.each(0xff, (at) => (seconds += secondsAt(bytes, at, ownRate)));
  return seconds > 0 ? { most: seconds, likely: seconds } : null;
}

/** The length of the frame whose header is here, or 0. */
function secondsAt(bytes: SoundBytes, at: number, ownRate: number): number {
  if ((bytes.at(at + 1) & 0xfe) !== 0xf8) return 0;
  const [codes, form] = [bytes.at(at + 2), bytes.at(at + 3)];
  const [sizeCode, rateCode] = [codes >> 4, codes & 15];
  if (sizeCode === 0 || rateCode === 15 || form >> 4 >= CHANNEL_CODES || (form & 1) !== 0) return 0;
  // The number of the frame takes as many bytes as its first one has leading ones, as in UTF-8.
  const first = bytes.at(at + 4);
  const ones = Math.clz32(~(first << 24));
  const sizeAt = at + 4 + Math.max(ones, 1);
  const rateAt = sizeAt + (sizeCode === 6 ? 1 : sizeCode === 7 ? 2 : 0);
  const end = rateAt + (rateCode === RATE_IN_KILOHERTZ ? 1 : rateCode > RATE_IN_KILOHERTZ ? 2 : 0);
  if (checksum(bytes, at, end) !== bytes.at(end)) return 0;
  const samples = samplesOf(sizeCode, bytes.big(sizeAt, rateAt - sizeAt));
  const rate = rateOf(rateCode, bytes.big(rateAt, end - rateAt)) || ownRate;
  return samples / Math.min(rate, ownRate);
}

function samplesOf(code: number, written: number): number {
  if (code === 1) return 192;
  if (code < 6) return 576 << (code - 2);
  return code < 8 ? written + 1 : 256 << (code - 8);
}

function rateOf(code: number, written: number): number {
  if (code === RATE_IN_KILOHERTZ) return written * 1_000;
  if (code === RATE_IN_HERTZ) return written;
  return code === RATE_IN_TENS ? written * 10 : (RATES[code] ?? 0);
}

function checksum(bytes: SoundBytes, from: number, to: number): number {
  let crc = 0;
  for (let at = from; at < to; at += 1) {
    crc ^= bytes.at(at);
    for (let bit = 0; bit < 8; bit += 1) crc = ((crc << 1) ^ (crc & 0x80 ? CRC_POLYNOMIAL : 0)) & 0xff;
  }
  return crc;
}
