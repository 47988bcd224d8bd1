/** Kilobits a second of layer III by the four bits of a frame's head; 0 where none is stated. */
const KILOBITS = {
  one: [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0],
  two: [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0],
};
/** Samples a second, of version 1; version 2 has a half of them, and 2.5 a quarter. */
const RATES = [44_100, 48_000, 32_000, 0];
/** By the two bits of the version. */
const PARTS_OF_RATE = [4, 0, 2, 1];
const LAYER_3 = 1;
/** Tags and padding between frames; with more the file is something else, and nobody looks at each of its bytes. */
const MOST_OTHER_BYTES = 64 * 1024;
const TAG_HEAD_BYTES = 10;

/**
 * The length of an MP3 file in seconds, counted frame by frame: no header is believed. Null for what is no row of frames of
 * layer III.
 */
export function mp3Seconds(pieces: readonly Buffer[], fileBytes: number): number | null {
  const bytes = new ByteWalk(pieces);
  let at = tagBytes(bytes);
  let seconds = 0;
  let other = 0;
  while (at + 4 <= fileBytes) {
    const frame = frameAt(bytes, at);
    if (frame) {
      seconds += frame.seconds;
      at += frame.bytes;
      continue;
    }
    at += 1;
    other += 1;
    if (other > MOST_OTHER_BYTES) return null;
  }
  return seconds > 0 ? seconds : null;
}

/** The tag in front of the first frame says how long it is, in four times seven bits. */
function tagBytes(bytes: ByteWalk): number {
  const isTag = [0x49, 0x44, 0x33].every((byte, at) => bytes.at(at) === byte);
  if (!isTag) return 0;
  return [6, 7, 8, 9].reduce((size, at) => size * 128 + (bytes.at(at) & 0x7f), 0) + TAG_HEAD_BYTES;
}

function frameAt(bytes: ByteWalk, at: number): { bytes: number; seconds: number } | null {
  const [first, second, third] = [bytes.at(at), bytes.at(at + 1), bytes.at(at + 2)];
  if (first !== 0xff || (second & 0xe0) !== 0xe0 || ((second >> 1) & 3) !== LAYER_3) return null;
  const part = PARTS_OF_RATE[(second >> 3) & 3] ?? 0;
  const rate = part === 0 ? 0 : (RATES[(third >> 2) & 3] ?? 0) / part;
  const kilobits = (part === 1 ? KILOBITS.one : KILOBITS.two)[third >> 4] ?? 0;
  if (rate === 0 || kilobits === 0) return null;
  const samples = part === 1 ? 1_152 : 576;
  const padding = (third >> 1) & 1;
  return {
    bytes: Math.floor((samples * kilobits * 125) / rate) + padding,
    seconds: samples / rate,
  };
}

/** Bytes of pieces that are read from front to back. */
class ByteWalk {
  private index = 0;
  private start = 0;

  constructor(private readonly pieces: readonly Buffer[]) {}

  /** 0 behind the end. */
  at(offset: number): number {
    while (offset < this.start && this.index > 0) {
      this.index -= 1;
      this.start -= this.pieces[this.index]?.length ?? 0;
    }
    for (;;) {
      const piece = this.pieces[this.index];
      if (!piece) return 0;
      if (offset < this.start + piece.length) return piece[offset - this.start] ?? 0;
      this.start += piece.length;
      this.index += 1;
    }
  }
}
