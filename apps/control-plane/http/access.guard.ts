import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { timingSafeEqual } from 'node:crypto';
import { ApiError } from '#platform/errors.js';
import type { CallSession } from './call-session.js';
import { ROUTE, type Route } from './declared-route.js';
import { HeavyWork } from './heavy-work.js';
import { RequestThrottle } from './request-throttle.js';
import { SessionReader } from './session.reader.js';

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Decides who may call a route: its session, its role, and that the request was not forged by another site. Whether an ID
 * belongs to the caller is checked where it is read.
 */
@Injectable()
export class AccessGuard implements CanActivate {
  private readonly reflector = new Reflector();

  constructor(
    @Inject(SessionReader) private readonly sessions: SessionReader,
    @Inject(RequestThrottle) private readonly throttle: RequestThrottle,
    @Inject(HeavyWork) private readonly heavy: HeavyWork,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const declared = this.reflector.get<Route>(ROUTE, context.getHandler());
    const { access, guardsAgainstForgery } = declared;
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const reply = http.getResponse<FastifyReply>();
    if (guardsAgainstForgery) refuseForeignSite(request);
    request.session = await this.sessions.read(request, reply);
    this.throttle.count(request, reply, declared);
    if (access === 'public') return true;
    if (!request.session)
      throw new ApiError('not_signed_in', 'Sign in first: you have no session, or it has ended.');
    if (guardsAgainstForgery) requireToken(request, request.session.csrfToken);
    const { roles } = request.session.actor;
    if (!access.some((role) => roles.includes(role))) {
      throw new ApiError('forbidden', `This needs the role ${access.join(' or ')}.`);
    }
    refuseUnproved(request.session, declared);
    const { actor } = request.session;
    request.session = underView(request.session, declared);
    await this.heavy.enter(declared.load, actor, reply);
    return true;
  }
}

/** @throws ApiError second_factor_required, confirmation_required */
function refuseUnproved(session: CallSession, declared: Route): void {
  if (!declared.beforeSecondFactor && session.secondFactor === 'required')
    throw new ApiError(
      'second_factor_required',
      'People with your role sign in with one-time codes too: set them up first, by POST /api/totp/enrolment and then ' +
        '/api/totp/confirm.',
    );
  if (!declared.confirms || session.isConfirmed) return;
  const proof = session.secondFactor === 'on' ? 'a code of your device' : 'your password';
  throw new ApiError(
    'confirmation_required',
    `Confirm your identity: send ${proof} to POST /api/session/confirm, then repeat this request.`,
  );
}

/** The session as a route may see it while viewing another account. @throws ApiError forbidden */
function underView(session: CallSession, declared: Route): CallSession {
  const { view, actor } = session;
  if (!view || declared.underView === 'own') return session;
  if (declared.underView === 'theirs') return { ...session, actor: { ...actor, accountId: view.accountId } };
  throw new ApiError(
    'forbidden',
    `You are viewing the account ${view.name}, which is read-only. Exit the view to use your own account.`,
  );
}

/**
 * Browsers say where a request comes from. A request that changes something must come from our own pages, or not from a browser.
 */
function refuseForeignSite({ method, headers, host }: FastifyRequest): void {
  if (SAFE_METHODS.has(method)) return;
  const { origin } = headers;
  const isForeign = origin !== undefined && (!URL.canParse(origin) || new URL(origin).host !== host);
  if (isForeign || headers['sec-fetch-site'] === 'cross-site') {
    throw new ApiError('csrf_rejected', 'The request comes from a page on another site.');
  }
}

function requireToken({ method, headers }: FastifyRequest, expected: string): void {
  if (SAFE_METHODS.has(method)) return;
  const sent = Buffer.from(String(headers['x-csrf-token'] ?? ''));
  const wanted = Buffer.from(expected);
  if (sent.length === wanted.length && timingSafeEqual(sent, wanted)) return;
  throw new ApiError('csrf_rejected', 'Send the csrfToken of the session as the header x-csrf-token.');
}
