import type { SoundBytes } from './sound-bytes.js';

/** No packet of Opus is longer. */
export const MOST_OPUS_SECONDS = 0.12;

/** Milliseconds of an Opus frame, by its mode and the two bits after it. */
const SPEECH_MS = [10, 20, 40, 60];
const HYBRID_MS = [10, 20];
const MUSIC_MS = [2.5, 5, 10, 20];
const [FIRST_HYBRID, FIRST_MUSIC] = [12, 16];

/** The seconds of an Opus packet, by its first byte, and its second if that has the number of frames. */
export function opusSeconds(bytes: SoundBytes, at: number): number {
  const head = bytes.at(at);
  const mode = head >> 3;
  const ms =
    mode < FIRST_HYBRID ? SPEECH_MS[mode % 4] : mode < FIRST_MUSIC ? HYBRID_MS[mode % 2] : MUSIC_MS[mode % 4];
  const code = head & 3;
  const frames = code === 0 ? 1 : code < 3 ? 2 : bytes.at(at + 1) & 0x3f;
  return Math.min(((ms ?? 0) * frames) / 1_000, MOST_OPUS_SECONDS);
}

/**
 * The most seconds of a Vorbis packet, by the header of its stream: half of its longer block. Null if there is no such
 * header.
 */
export function vorbisSeconds(bytes: SoundBytes, at: number): number | null {
  if (bytes.text(at, 7) !== '\x01vorbis') return null;
  const rate = bytes.little(at + 12, 4);
  return rate > 0 ? 2 ** ((bytes.at(at + 28) >> 4) - 1) / rate : null;
}
