import { isUtf8 } from 'node:buffer';

const LONGEST_CHARACTER = 4;

/** Says of bytes that come in pieces whether they are UTF-8; a character may lie across two of them. */
export class Utf8Check {
  private begun = Buffer.alloc(0);

  /** False at the first piece that cannot be. */
  push(piece: Buffer): boolean {
    const missing = this.begun.length === 0 ? 0 : lengthOf(this.begun[0] ?? 0) - this.begun.length;
    if (missing > piece.length) {
      this.begun = Buffer.concat([this.begun, piece]);
      return true;
    }
    if (missing > 0 && !isUtf8(Buffer.concat([this.begun, piece.subarray(0, missing)]))) return false;
    const end = endOfWhole(piece, missing);
    this.begun = Buffer.from(piece.subarray(end));
    return isUtf8(piece.subarray(missing, end));
  }

  /** True unless the last character is not whole. */
  end(): boolean {
    return this.begun.length === 0;
  }
}

/** Where the last character begins that the piece does not end. */
function endOfWhole(piece: Buffer, from: number): number {
  for (let back = 1; back < LONGEST_CHARACTER && piece.length - back >= from; back += 1) {
    const byte = piece[piece.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    return lengthOf(byte) > back ? piece.length - back : piece.length;
  }
  return piece.length;
}

function lengthOf(first: number): number {
  if (first >= 0xf0) return LONGEST_CHARACTER;
  if (first >= 0xe0) return 3;
  return first >= 0xc0 ? 2 : 1;
}
