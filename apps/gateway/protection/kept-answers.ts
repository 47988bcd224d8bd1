import type { FastifyReply } from 'fastify';
import type { Readable } from 'node:stream';
import type { FileStore } from '#storage/file-store.js';
import { breakWhenStalled } from '#platform/http/stalled-client.js';
import { unknownOutcome } from './idempotency.errors.js';
import type { KeptAnswer, KeptBody } from './idempotency.store.js';
import type { SentAnswer } from './recording.js';

/** Longer answers, which are base64 images, are files: they would bloat the database's log and backups. */
const INLINE_BYTES = 64 * 1024;
/** Ten base64 images. Longer answers are not stored. */
export const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
const FOLDER = 'answers';

/** Answers under an Idempotency-Key, short ones in the database and long ones as files. */
export class KeptAnswers {
  constructor(private readonly files: FileStore) {}

  /** The answer as stored. A long one becomes a file. */
  async keep(chargeId: string, { body: bytes, ...head }: SentAnswer): Promise<KeptAnswer> {
    if (bytes.length <= INLINE_BYTES) return { ...head, body: { bytes } };
    const file = `${FOLDER}/${chargeId}.body`;
    await this.files.write(file, bytes, { maxBytes: MAX_ANSWER_BYTES, durable: false });
    return { ...head, body: { file } };
  }

  /** Sends the stored answer again. */
  async repeat(
    { status, contentType, headers, body }: KeptAnswer,
    reply: FastifyReply,
  ): Promise<FastifyReply> {
    const { length, content } = await this.open(body);
    void reply.code(status).headers(headers).header('idempotent-replayed', 'true');
    if (contentType !== null) void reply.type(contentType);
    // The answer will not change, even if its status makes SDKs retry.
    if (status >= 400) void reply.header('x-should-retry', 'false');
    // Repeats cost nothing, so a client that reads none of them may not keep them open.
    if (!Buffer.isBuffer(content)) breakWhenStalled(reply.raw);
    return reply.header('content-length', length).send(content);
  }

  /** A file is read as fast as the client reads. @throws ApiError if it is gone */
  private async open(body: KeptBody): Promise<{ length: number; content: Buffer | Readable }> {
    if ('bytes' in body) return { length: body.bytes.length, content: body.bytes };
    const found = await this.files.stat(body.file);
    if (!found) throw unknownOutcome();
    return { length: found.bytes, content: await this.files.open(body.file) };
  }
}
