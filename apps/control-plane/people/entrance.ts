import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type OpenedSession, SessionStore } from '#identity/session.store.js';
import { ApiError } from '#platform/errors.js';
import type { Origin } from '#people/origin.js';
import { Using } from '#platform/wiring.js';
import type { CallSession } from '../http/call-session.js';
import type { AnswerOf } from '../http/route.js';
import { SessionCookie } from '../http/session-cookie.js';
import { SessionReader } from '../http/session.reader.js';
import type { sessionRoutes } from './session.routes.js';
import { viewSession } from './session.view.js';

export function signInOrigin(request: FastifyRequest): Origin {
  return { ip: request.ip, userAgent: request.headers['user-agent'] ?? null };
}

@Injectable()
export class Entrance extends Using({
  sessions: SessionStore,
  cookie: SessionCookie,
  reader: SessionReader,
}) {
  /** Sets the cookie of a session that was just opened, and ends the one that the browser had. */
  async enter(
    { session, reply }: { session: CallSession | null; reply: FastifyReply },
    opened: OpenedSession,
  ): Promise<AnswerOf<typeof sessionRoutes.show>> {
    const found = await this.sessions.find(opened.token);
    if (!found) throw new ApiError('not_signed_in', 'The session was ended at once.');
    if (session) await this.sessions.revoke(session.actor.userId, session.actor.sessionId);
    this.cookie.set(reply, opened.token);
    return viewSession(this.reader.sessionOf(found));
  }

  leave(reply: FastifyReply): void {
    this.cookie.clear(reply);
  }
}
