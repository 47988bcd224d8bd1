import type { FastifyReply, FastifyRequest } from 'fastify';
import { createHash } from 'node:crypto';

const NOT_MODIFIED = 304;

interface Keeping {
  /** How long others may keep it without asking again. */
  readonly ageMs: number;
  /** Everyone gets the same. What only one account may see is cached by its own browser, which revalidates it each time. */
  readonly isForAll: boolean;
}

/**
 * An answer as it is sent, or 304 if the caller has it. The tag follows from the content, so every program answers the same. The
 * answer varies by cookie, so that nobody who signs in or out keeps the previous one.
 */
export function cachedAnswer<T extends object>(
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  answer: T,
  { ageMs, isForAll }: Keeping,
): T {
  const etag = `"${createHash('sha256').update(JSON.stringify(answer)).digest('base64url').slice(0, 27)}"`;
  const ageSeconds = Math.max(0, Math.floor(ageMs / 1000));
  const keeping = isForAll ? `public, max-age=${ageSeconds}` : 'private, no-cache';
  void reply.headers({ etag, 'cache-control': keeping, vary: 'Cookie' });
  if (!isKnown(request.headers['if-none-match'], etag)) return answer;
  void reply.code(NOT_MODIFIED);
  return undefined as unknown as T;
}

/** If-None-Match compares weakly (RFC 9110, 13.1.2). */
function isKnown(header: string | undefined, etag: string): boolean {
  const tags = (header ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes(etag) || tags.includes('*');
}
