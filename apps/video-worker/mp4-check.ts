import { NamedError } from '#platform/errors.js';

/** The bytes are not a whole MP4 file. */
export class NotAVideo extends NamedError {}

const SHORT_HEADER = 8;
const LONG_HEADER = 16;

/**
 * Follows the boxes of an MP4 file as its bytes pass by, without keeping them. A truncated file ends inside a box, so no
 * announced length is needed to notice.
 */
class BoxWalk {
  private header = Buffer.alloc(0);
  private leftInBox = 0;
  private isFirst = true;
  private hasMovie = false;
  private isTail = false;

  push(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length && !this.isTail) {
      if (this.leftInBox > 0) {
        const step = Math.min(this.leftInBox, chunk.length - at);
        this.leftInBox -= step;
        at += step;
      } else {
        at += this.readHeader(chunk.subarray(at));
      }
    }
  }

  /** @throws NotAVideo if the file ends too soon. */
  finish(): void {
    if (this.isFirst) throw new NotAVideo('too short for a video');
    if (this.leftInBox > 0 && this.leftInBox !== Infinity) throw new NotAVideo('the file is cut short');
    if (!this.hasMovie) throw new NotAVideo('the file holds no movie');
  }

  /** Collects a header, which may be split across chunks. Returns how many bytes it took. */
  private readHeader(bytes: Buffer): number {
    const before = this.header.length;
    const wanted = this.wantedHeaderBytes();
    this.header = Buffer.concat([this.header, bytes.subarray(0, wanted - before)]);
    if (this.header.length === this.wantedHeaderBytes()) this.openBox();
    return Math.min(bytes.length, wanted - before);
  }

  private wantedHeaderBytes(): number {
    const isLong = this.header.length >= 4 && this.header.readUInt32BE(0) === 1;
    return isLong ? LONG_HEADER : SHORT_HEADER;
  }

  private openBox(): void {
    const type = this.header.toString('latin1', 4, 8);
    const length = this.header.length;
    const size =
      length === LONG_HEADER ? Number(this.header.readBigUInt64BE(8)) : this.header.readUInt32BE(0);
    if (this.isFirst && type !== 'ftyp') throw new NotAVideo('the bytes are not an MP4 file');
    this.isFirst = false;
    if (type === 'moov') this.hasMovie = true;
    this.header = Buffer.alloc(0);
    if (size === 0) {
      this.leftInBox = Infinity; // the last box extends to the end of the file
    } else if (size >= length) {
      this.leftInBox = size - length;
    } else if (this.hasMovie) {
      this.isTail = true; // padding after the movie, which players ignore
    } else {
      throw new NotAVideo(`a box of ${size} bytes`);
    }
  }
}

/** Passes the bytes of an MP4 file through. @throws NotAVideo as soon as they prove to be no MP4 file or an incomplete one. */
export async function* wholeMp4(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const walk = new BoxWalk();
  for await (const chunk of source) {
    walk.push(chunk);
    yield chunk;
  }
  walk.finish();
}
