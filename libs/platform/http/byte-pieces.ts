const FIRST_BYTES = 1024;
const PIECE_BYTES = 256 * 1024;

/** Bytes in their own memory, which they share with nothing else, however small the parts in which they arrive. */
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

  /** Removes the end. */
  cutFrom(start: number): Buffer {
    const end = Buffer.from(this.bytes.subarray(start, this.length));
    this.length = start;
    return end;
  }
}

/** The same in pieces that are never joined: without a copy of everything, and each can be passed to another thread. */
export class BytePieces {
  length = 0;
  private readonly pieces: GrowingBytes[] = [];

  get list(): Buffer[] {
    return this.pieces.map(({ content }) => content);
  }

  add(source: Buffer, from = 0, to = source.length): void {
    let last = this.pieces.at(-1);
    if (!last || last.length + to - from > PIECE_BYTES) {
      // After one full piece, the next is likely to fill up as well.
      last = new GrowingBytes(last && PIECE_BYTES);
      this.pieces.push(last);
    }
    last.add(source, from, to);
    this.length += to - from;
  }
}
