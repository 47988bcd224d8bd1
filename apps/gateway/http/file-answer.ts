import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { FileMissing, type FileStore } from '#storage/file-store.js';
import { ApiError } from '#platform/errors.js';
import { breakWhenStalled } from '#platform/http/stalled-client.js';

export interface StoredFile {
  key: string;
  bytes: number;
  type: string;
  /** Identifies these exact bytes. */
  etag: string;
}

export interface ByteRange {
  start: number;
  end: number;
}

/** The single requested range. Null for the whole file, also if the header is invalid (RFC 9110 14.2). */
export function readByteRange(header: string | undefined, bytes: number): ByteRange | 'unsatisfiable' | null {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '');
  if (!match) return null;
  const [, first = '', last = ''] = match;
  if (first === '' && last === '') return null;
  if (first === '') {
    const suffix = Number(last);
    return suffix === 0 || bytes === 0
      ? 'unsatisfiable'
      : { start: Math.max(0, bytes - suffix), end: bytes - 1 };
  }
  const start = Number(first);
  const end = last === '' ? bytes - 1 : Math.min(Number(last), bytes - 1);
  if (last !== '' && Number(last) < start) return null;
  return start >= bytes ? 'unsatisfiable' : { start, end };
}

/**
 * Answers GET and HEAD with a stored file, complete or in part. Private, because the file expires soon and belongs to one
 * customer. A client that reads nothing for `stallMs` is disconnected: it may be anyone who has the link, and holds a file or a
 * connection to the store.
 * @throws FileMissing if the file is gone, before a status is sent; ApiError range_not_satisfiable
 */
export async function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  { store, file, stallMs }: { store: Pick<FileStore, 'open'>; file: StoredFile; stallMs?: number },
): Promise<void> {
  const { bytes, etag, key } = file;
  void reply.headers({ 'accept-ranges': 'bytes', 'cache-control': 'private', etag });
  if (namesEtag(request.headers['if-none-match'], etag)) {
    await reply.code(304).send();
    return;
  }
  const ifRange = request.headers['if-range'];
  const range =
    ifRange === undefined || ifRange === etag ? readByteRange(request.headers.range, bytes) : null;
  if (range === 'unsatisfiable') {
    void reply.header('content-range', `bytes */${bytes}`);
    throw new ApiError('range_not_satisfiable', `The file has ${bytes} bytes.`);
  }
  const length = range ? range.end - range.start + 1 : bytes;
  const body = request.method === 'HEAD' ? Readable.from([]) : await store.open(key, range ?? undefined);
  if (range) void reply.code(206).header('content-range', `bytes ${range.start}-${range.end}/${bytes}`);
  breakWhenStalled(reply.raw, stallMs);
  await reply
    .headers({ 'content-length': length, 'content-type': file.type, 'x-content-type-options': 'nosniff' })
    .send(body);
}

/** Whether If-None-Match names this file; a proxy that recoded an answer has made its tag a weak one (RFC 9110 13.1.2). */
export function namesEtag(header: string | undefined, etag: string): boolean {
  const named = (header ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return named.includes(etag) || named.includes('*');
}

export function isMissingFile(error: unknown): boolean {
  return error instanceof FileMissing;
}
