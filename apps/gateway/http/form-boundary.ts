import type { FastifyRequest } from 'fastify';
import { ApiError } from '#platform/errors.js';

/** ASCII only, without characters that need escaping. RFC 2046 allows at most 70, and fewer kinds. */
const BOUNDARY = /;\s*boundary=(?:"([ !#-[\]-~]{1,200})"|([!#-:<-[\]-~]{1,200}))\s*(?:;|$)/i;

/** @throws ApiError invalid_multipart */
export function boundaryOf({ headers }: FastifyRequest): string {
  const [, quoted, plain] = BOUNDARY.exec(headers['content-type'] ?? '') ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined)
    throw new ApiError(
      'invalid_multipart',
      'The Content-Type names no boundary of at most 200 plain characters.',
    );
  return boundary;
}

/** Counts the delimiters of a form in its bytes. */
export class Delimiters {
  private readonly delimiter: Buffer;
  /** The end of what came, in which a delimiter may begin. */
  private end = Buffer.alloc(0);
  private left: number;

  constructor(boundary: string, mostParts: number) {
    this.delimiter = Buffer.from(`\r\n--${boundary}`);
    // Each part ends with one; another may come before the first.
    this.left = mostParts + 1;
  }

  /** Whether there are more than the parts may have. */
  areBeyond(bytes: Buffer): boolean {
    const text = Buffer.concat([this.end, bytes]);
    const { length } = this.delimiter;
    let at = text.indexOf(this.delimiter);
    while (at >= 0 && this.left >= 0) {
      this.left -= 1;
      at = text.indexOf(this.delimiter, at + length);
    }
    this.end = Buffer.from(text.subarray(Math.max(0, text.length - length + 1)));
    return this.left < 0;
  }
}
