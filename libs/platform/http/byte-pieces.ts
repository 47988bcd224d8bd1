const FIRST_BYTES = 1024;
const PIECE_BYTES = 256 * 1024;

/** Bytes in memory of their own, which nothing else is a slice of, however small the parts that they come in. */
export class GrowingBytes {
  length = 0;
  private bytes: Buffer;

  constructor(firstBytes = FIRST_BYTES) {
    this.bytes = Buffer.allocUnsafeSlow(firstBytes);
  }

  get content(): Buffer {
    return this.bytes.subarray(0, this.length);
  }

  add(source: Buffer, from = 0, to = source.length): void {
    const length = this.length + to - from;
    if (length > this.bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(length, this.bytes.length * 2));
      this.bytes.copy(larger, 0, 0, this.length);
      this.bytes = larger;
    }
    source.copy(this.bytes, this.length, from, to);
    this.length = length;
  }

  /** Takes the end away. */
  cutFrom(start: number): Buffer {
    const end = Buffer.from(this.bytes.subarray(start, this.length));
    this.length = start;
    return end;
  }
}

/** The same in pieces that are never joined: no copy of everything, and each can be handed to another thread. */
export class BytePieces {
  length = 0;
  private readonly pieces: GrowingBytes[] = [];

  get list(): Buffer[] {
    return this.pieces.map(({ content }) => content);
  }

  add(source: Buffer, from = 0, to = source.length): void {
    let last = this.pieces.at(-1);
    if (!last || last.length + to - from > PIECE_BYTES) {
      // What went beyond one piece is likely to fill the next.
      last = new GrowingBytes(last && PIECE_BYTES);
      this.pieces.push(last);
    }
    last.add(source, from, to);
    this.length += to - from;
  }
}
