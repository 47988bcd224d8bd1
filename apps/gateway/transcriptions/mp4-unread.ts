import { eachBelow, type ReadInTurns, type SoundBytes } from './sound-bytes.js';

/** Boxes that decoders skip. */
const PASSED = new Set(['mdat', 'free', 'skip', 'wide']);
/** Some decoders find these in boxes that others do not open, such as user data. */
const OF_FRAGMENTS = codes('tkhd', 'tfhd', 'trun');
const OF_TRACKS = codes('tkhd', 'tfhd', 'trun', 'elst', 'stsd', 'stsz', 'stz2');
/** Title images are smaller. */
const MOST_BYTES = 8 * 1024 * 1024;

/** The unread boxes of a file. */
export class Unread {
  private looked = 0;

  constructor(private readonly bytes: SoundBytes) {}

  /** False if one may contain something that changes what is played, or is too long to inspect. */
  *isHarmless(
    { type, content, end }: { type: string; content: number; end: number },
    inTrack: boolean,
  ): ReadInTurns<boolean> {
    if (PASSED.has(type)) return true;
    this.looked += end - content;
    if (this.looked > MOST_BYTES) return false;
    const names = inTrack ? OF_TRACKS : OF_FRAGMENTS;
    let isHarmless = true;
    let code = 0;
    yield* eachBelow(end - content, (each) => {
      code = (code << 8) | this.bytes.at(content + each);
      if (names.has(code)) isHarmless = false;
    });
    return isHarmless;
  }
}

function codes(...names: string[]): Set<number> {
  return new Set(names.map((name) => Buffer.from(name, 'latin1').readInt32BE()));
}
