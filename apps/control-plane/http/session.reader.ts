import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type FoundSession, SessionStore } from '#identity/session.store.js';
import { SecondFactor } from '#identity/second-factor.js';
import type { CallSession } from './call-session.js';
import { SessionCookie } from './session-cookie.js';

/** Finds the session that a request belongs to. */
@Injectable()
export class SessionReader {
  constructor(
    @Inject(SessionStore) private readonly sessions: SessionStore,
    @Inject(SessionCookie) private readonly cookie: SessionCookie,
    @Inject(SecondFactor) private readonly secondFactor: SecondFactor,
  ) {}

  /** Null if there is none. A token that has been used for a long time is replaced. */
  async read(request: FastifyRequest, reply: FastifyReply): Promise<CallSession | null> {
    const token = this.cookie.read(request);
    const found = token === undefined ? null : await this.sessions.find(token);
    if (found?.newToken) this.cookie.set(reply, found.newToken);
    return found && this.sessionOf(found);
  }

  sessionOf(found: FoundSession): CallSession {
    const { actor, csrfToken, view, language, isConfirmed } = found;
    return { actor, csrfToken, view, language, isConfirmed, secondFactor: this.secondFactor.stateOf(found) };
  }
}
