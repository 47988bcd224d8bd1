import type { FastifyReply } from 'fastify';
import { Readable } from 'node:stream';

/** Marks the answer as a file to be saved under this name. */
export function announceFile(reply: FastifyReply, fileName: string, mediaType: string): void {
  void reply.headers({
    'content-type': mediaType,
    'content-disposition': `attachment; filename="${fileName}"`,
  });
}

/** A PDF of one account, which no cache stores. */
export function sendPdf(reply: FastifyReply, fileName: string, bytes: Buffer): Readable {
  announceFile(reply, fileName, 'application/pdf');
  void reply.header('cache-control', 'private, no-store');
  return Readable.from([bytes], { objectMode: false });
}
