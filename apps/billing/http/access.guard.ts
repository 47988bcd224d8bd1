import { timingSafeEqual } from 'node:crypto';
import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { SessionStore } from '#identity/session.store.js';
import { ApiError } from '#platform/errors.js';
import { type CallSession, ROUTE, type Route } from './route.js';
import { SessionCookie } from './session-cookie.js';

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Decides who may call a route: its session, its role, and that the request was not forged by another site. Whose things
 * an id names is decided where they are read.
 */
@Injectable()
export class AccessGuard implements CanActivate {
  constructor(
    @Inject(Reflector) private readonly reflector: Reflector,
    @Inject(SessionStore) private readonly sessions: SessionStore,
    @Inject(SessionCookie) private readonly cookie: SessionCookie,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const declared = this.reflector.get<Route>(ROUTE, context.getHandler());
    const { access, guardsAgainstForgery } = declared;
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    if (guardsAgainstForgery) refuseForeignSite(request);
    request.session = await this.readSession(request, http.getResponse<FastifyReply>());
    if (access === 'public') return true;
    if (!request.session)
      throw new ApiError('not_signed_in', 'Sign in first: there is no session, or it has ended.');
    if (guardsAgainstForgery) requireToken(request, request.session.csrfToken);
    const { roles } = request.session.actor;
    if (!access.some((role) => roles.includes(role))) {
      throw new ApiError('forbidden', `This needs the role ${access.join(' or ')}.`);
    }
    request.session = underView(request.session, declared);
    return true;
  }

  private async readSession(
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<FastifyRequest['session']> {
    const token = this.cookie.read(request);
    const found = token === undefined ? null : await this.sessions.find(token);
    if (found?.newToken) this.cookie.set(reply, found.newToken);
    return found && { actor: found.actor, csrfToken: found.csrfToken, view: found.view };
  }
}

/** The session as a route may see it while it looks at somebody else's account. @throws ApiError forbidden */
function underView(session: CallSession, declared: Route): CallSession {
  const { view, actor } = session;
  if (!view || declared.underView === 'own') return session;
  if (declared.underView === 'theirs') return { ...session, actor: { ...actor, accountId: view.accountId } };
  throw new ApiError(
    'forbidden',
    `You are looking at the account ${view.name}, where nothing can be changed. End the view to go on with your own.`,
  );
}

/** Browsers say where a request comes from; what changes something must come from our own pages, or from no browser. */
function refuseForeignSite({ method, headers, host }: FastifyRequest): void {
  if (SAFE_METHODS.has(method)) return;
  const { origin } = headers;
  const isForeign = origin !== undefined && (!URL.canParse(origin) || new URL(origin).host !== host);
  if (isForeign || headers['sec-fetch-site'] === 'cross-site') {
    throw new ApiError('csrf_rejected', 'The request comes from a page of another site.');
  }
}

function requireToken({ method, headers }: FastifyRequest, expected: string): void {
  if (SAFE_METHODS.has(method)) return;
  const sent = Buffer.from(String(headers['x-csrf-token'] ?? ''));
  const wanted = Buffer.from(expected);
  if (sent.length === wanted.length && timingSafeEqual(sent, wanted)) return;
  throw new ApiError('csrf_rejected', 'Send the csrfToken of the session as the header x-csrf-token.');
}
