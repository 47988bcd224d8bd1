import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FoundSession, SessionStore } from '#identity/session.store.js';
import type { SecondFactor } from '#identity/second-factor.js';
import { KeptValues } from '#platform/kept-values.js';
import type { CallSession } from './call-session.js';
import type { RequestThrottle } from './request-throttle.js';
import type { SessionCookie } from './session-cookie.js';

/** Sessions that are remembered as open. */
const KNOWN = 10_000;

/** Finds the session that a request belongs to. */
export class SessionReader {
  private readonly known = new KeptValues<{ isOpen: boolean }>(KNOWN);

  constructor(
    private readonly parts: {
      sessions: SessionStore;
      cookie: SessionCookie;
      secondFactor: SecondFactor;
      throttle: RequestThrottle;
    },
  ) {}

  /**
   * Null if there is none. A token that has been used for a long time is replaced. One that did not open a session when last
   * seen counts against its address before the database is asked: anyone can make tokens up. @throws ApiError rate_limit_exceeded
   */
  async read(request: FastifyRequest, reply: FastifyReply): Promise<CallSession | null> {
    const { sessions, cookie, throttle } = this.parts;
    const token = cookie.read(request);
    if (token === undefined) return null;
    const known = this.known.get(token);
    if (!known?.isOpen) throttle.countUnknown(request, reply);
    const found = await sessions.find(token);
    if (known) known.isOpen = found !== null;
    else if (found) this.known.set(token, { isOpen: true });
    if (found?.newToken) cookie.set(reply, found.newToken);
    return found && this.sessionOf(found);
  }

  sessionOf(found: FoundSession): CallSession {
    const { actor, csrfToken, view, language, isConfirmed } = found;
    return {
      actor,
      csrfToken,
      view,
      language,
      isConfirmed,
      secondFactor: this.parts.secondFactor.stateOf(found),
    };
  }
}
