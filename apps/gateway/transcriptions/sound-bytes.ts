import { setImmediate as othersTurn } from 'node:timers/promises';

/** Pauses of a reading before others get a turn: a few milliseconds, at some microseconds each. */
const TURN_PAUSES = 500;
/** The entries of a table between two pauses. */
const PAUSE_ENTRIES = 16;
/** The bytes to scan between two pauses. */
const PAUSE_BYTES = 1024;

/** A reading that can pause at any point, so that others get a turn. */
export type ReadInTurns<T> = Generator<void, T>;

/** Reads to the end, and yields to others in between. */
export async function inTurns<T>(reads: ReadInTurns<T>): Promise<T> {
  for (let pauses = 1; ; pauses += 1) {
    const step = reads.next();
    if (step.done) return step.value;
    if (pauses % TURN_PAUSES === 0) await othersTurn();
  }
}

/** The numbers below this one, with pauses. */
export function* eachBelow(count: number, visit: (each: number) => void): ReadInTurns<void> {
  for (let each = 0; each < count; each += 1) {
    if (each % PAUSE_ENTRIES === 0) yield;
    visit(each);
  }
}

/** A file in pieces, which can be read anywhere, best from front to back. Zeros follow its end. */
export class SoundBytes {
  readonly length: number;
  private index = 0;
  private start = 0;

  constructor(private readonly pieces: readonly Buffer[]) {
    this.length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  }

  at(offset: number): number {
    while (offset < this.start && this.index > 0) {
      this.index -= 1;
      this.start -= this.pieces[this.index]?.length ?? 0;
    }
    for (;;) {
      const piece = this.pieces[this.index];
      if (!piece) return 0;
      if (offset < this.start + piece.length) return piece[offset - this.start] ?? 0;
      if (this.index === this.pieces.length - 1) return 0;
      this.start += piece.length;
      this.index += 1;
    }
  }

  /** A big-endian number of this many bytes. */
  big(offset: number, bytes: number): number {
    let value = 0;
    for (let each = 0; each < bytes; each += 1) value = value * 256 + this.at(offset + each);
    return value;
  }

  /** The same, little-endian. */
  little(offset: number, bytes: number): number {
    let value = 0;
    for (let each = bytes - 1; each >= 0; each -= 1) value = value * 256 + this.at(offset + each);
    return value;
  }

  text(offset: number, bytes: number): string {
    return String.fromCharCode(...Array.from({ length: bytes }, (_, each) => this.at(offset + each)));
  }

  /** Visits each position of a byte in order, and yields to others in between. */
  each(byte: number, visit: (offset: number) => void): Promise<void> {
    return inTurns(this.positions(byte, visit));
  }

  private *positions(byte: number, visit: (offset: number) => void): ReadInTurns<void> {
    let start = 0;
    for (const piece of this.pieces) {
      for (let from = 0; from < piece.length; from += PAUSE_BYTES) {
        yield;
        const part = piece.subarray(from, from + PAUSE_BYTES);
        for (let at = part.indexOf(byte); at >= 0; at = part.indexOf(byte, at + 1)) {
          visit(start + from + at);
          yield;
        }
      }
      start += piece.length;
    }
  }
}

/** How long a file plays, in seconds. */
export interface SoundLength {
  /** The maximum: no decoder plays more, whatever it believes about the file. */
  readonly most: number;
  /** The length that a usual player shows. */
  readonly likely: number;
}
