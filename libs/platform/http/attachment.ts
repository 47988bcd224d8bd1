import type { FastifyReply } from 'fastify';
import { Readable } from 'node:stream';

/** Says that the answer is a file to be saved under this name. */
export function announceFile(reply: FastifyReply, fileName: string, mediaType: string): void {
  void reply.headers({
    'content-type': mediaType,
    'content-disposition': `attachment; filename="${fileName}"`,
  });
}

/** A PDF of one account, which no cache keeps. */
export function sendPdf(reply: FastifyReply, fileName: string, bytes: Buffer): Readable {
  announceFile(reply, fileName, 'application/pdf');
  void reply.header('cache-control', 'private, no-store');
  return Readable.from([bytes], { objectMode: false });
}
