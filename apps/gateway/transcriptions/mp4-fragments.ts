import { eachBelow, type ReadInTurns, type SoundBytes } from './sound-bytes.js';

/** The fields that the flags of a track fragment header announce, in this order, and their widths. */
const HEAD_FIELDS = [
  [0x01, 8],
  [0x02, 4],
  [0x08, 4],
] as const;
const HEAD_HAS_SIZE = 0x10;
/** The same for a run: its own fields, and those of each sample, the second of which is the size. */
const RUN_FIELDS = [0x01, 0x04];
const [HAS_DURATION, HAS_SIZE] = [0x100, 0x200];
const SAMPLE_FIELDS = [HAS_DURATION, HAS_SIZE, 0x400, 0x800];

interface Sum {
  frames: number;
  bytes: number;
}

/** The samples of fragments, by track: several runs may use the same bytes. */
export class Fragments {
  private readonly sums = new Map<number, Sum>();
  private track = 0;
  /** For samples that do not say. */
  private size: number;

  constructor(private readonly bytes: SoundBytes) {
    this.size = bytes.length;
  }

  of(track: number): Sum {
    return this.sums.get(track) ?? { frames: 0, bytes: 0 };
  }

  /** Without a size, samples have one stated elsewhere, which is not read: no run is longer than its file. */
  begin(content: number): void {
    const flags = this.bytes.big(content, 4);
    const before = HEAD_FIELDS.reduce((sum, [flag, width]) => sum + (flags & flag ? width : 0), 8);
    this.track = this.bytes.big(content + 4, 4);
    this.size = flags & HEAD_HAS_SIZE ? this.bytes.big(content + before, 4) : this.bytes.length;
  }

  /** False for a run that is longer than its box. */
  *add({ content, end }: { content: number; end: number }): ReadInTurns<boolean> {
    const flags = this.bytes.big(content, 4);
    const frames = this.bytes.big(content + 4, 4);
    const widthOf = (fields: number[]) => fields.filter((flag) => flags & flag).length * 4;
    const [first, width] = [content + 8 + widthOf(RUN_FIELDS), widthOf(SAMPLE_FIELDS)];
    const sum = this.of(this.track);
    sum.frames += frames;
    if (flags & HAS_SIZE) {
      if (first + frames * width > end) return false;
      const sizeAt = first + (flags & HAS_DURATION ? 4 : 0);
      yield* eachBelow(frames, (each) => (sum.bytes += this.bytes.big(sizeAt + each * width, 4)));
    } else sum.bytes += Math.min(frames * this.size, this.bytes.length);
    this.sums.set(this.track, sum);
    return true;
  }
}
