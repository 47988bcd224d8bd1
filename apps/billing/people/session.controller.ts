import { Controller, Inject } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type OpenedSession, SessionStore } from '#identity/session.store.js';
import { ApiError } from '#platform/errors.js';
import { type AnswerOf, type CallOf, Serves } from '../http/route.js';
import { SessionCookie } from '../http/session-cookie.js';
import { PasswordDesk } from './password.desk.js';
import { passwordRoutes, sessionRoutes, totpRoutes } from './session.routes.js';
import { SignInDesk } from './sign-in.desk.js';
import { type Origin, SignUpDesk } from './sign-up.desk.js';
import { TotpDesk } from './totp.desk.js';

type SessionView = AnswerOf<typeof sessionRoutes.show>;

interface Arrival {
  session: { actor: { userId: string; sessionId: string } } | null;
  reply: FastifyReply;
}

@Controller()
export class SessionController {
  constructor(
    @Inject(SessionStore) private readonly sessions: SessionStore,
    @Inject(SessionCookie) private readonly cookie: SessionCookie,
    @Inject(SignUpDesk) private readonly signUps: SignUpDesk,
    @Inject(SignInDesk) private readonly signIns: SignInDesk,
    @Inject(PasswordDesk) private readonly passwords: PasswordDesk,
    @Inject(TotpDesk) private readonly totp: TotpDesk,
  ) {}

  @Serves(sessionRoutes.show)
  show({ actor, session }: CallOf<typeof sessionRoutes.show>): SessionView {
    const { userId, accountId, email, roles } = actor;
    return { userId, accountId, email, roles: [...roles], csrfToken: session.csrfToken };
  }

  @Serves(sessionRoutes.signUp)
  async signUp({ body, request }: CallOf<typeof sessionRoutes.signUp>): Promise<void> {
    await this.signUps.request(body, originOf(request));
  }

  @Serves(sessionRoutes.confirmSignUp)
  async confirmSignUp(call: CallOf<typeof sessionRoutes.confirmSignUp>): Promise<SessionView> {
    return this.enter(call, await this.signUps.confirm(call.body, originOf(call.request)));
  }

  @Serves(sessionRoutes.signIn)
  async signIn(call: CallOf<typeof sessionRoutes.signIn>): Promise<SessionView> {
    return this.enter(call, await this.signIns.signIn(call.body, originOf(call.request)));
  }

  @Serves(sessionRoutes.signOut)
  async signOut({ actor, reply }: CallOf<typeof sessionRoutes.signOut>): Promise<void> {
    await this.sessions.revoke(actor.userId, actor.sessionId);
    this.cookie.clear(reply);
  }

  @Serves(sessionRoutes.list)
  async list({ actor }: CallOf<typeof sessionRoutes.list>): Promise<AnswerOf<typeof sessionRoutes.list>> {
    const found = await this.sessions.list(actor.userId);
    return {
      items: found.map((each) => ({
        ...each,
        isCurrent: each.sessionId === actor.sessionId,
        createdAt: each.createdAt.toISOString(),
        lastSeenAt: each.lastSeenAt.toISOString(),
        expiresAt: each.expiresAt.toISOString(),
      })),
    };
  }

  @Serves(sessionRoutes.revoke)
  async revoke({ actor, params }: CallOf<typeof sessionRoutes.revoke>): Promise<void> {
    if (!(await this.sessions.revoke(actor.userId, params.sessionId)))
      throw new ApiError('not_found', 'You have no such session.');
  }

  @Serves(sessionRoutes.revokeAll)
  async revokeAll({
    actor,
    query,
    reply,
  }: CallOf<typeof sessionRoutes.revokeAll>): Promise<AnswerOf<typeof sessionRoutes.revokeAll>> {
    const isKept = query.keepThis === 'true';
    const revoked = await this.sessions.revokeAll(actor.userId, isKept ? actor.sessionId : null);
    if (!isKept) this.cookie.clear(reply);
    return { revoked };
  }

  @Serves(passwordRoutes.requestReset)
  async requestReset({ body, request }: CallOf<typeof passwordRoutes.requestReset>): Promise<void> {
    await this.passwords.requestReset(body.email, originOf(request));
  }

  @Serves(passwordRoutes.reset)
  async reset(call: CallOf<typeof passwordRoutes.reset>): Promise<SessionView> {
    return this.enter(call, await this.passwords.reset(call.body, originOf(call.request), call.requestId));
  }

  @Serves(passwordRoutes.change)
  async change({ actor, body, requestId }: CallOf<typeof passwordRoutes.change>): Promise<void> {
    await this.passwords.change(actor, body, requestId);
  }

  @Serves(totpRoutes.show)
  showTotp({ actor }: CallOf<typeof totpRoutes.show>): Promise<AnswerOf<typeof totpRoutes.show>> {
    return this.totp.state(actor);
  }

  @Serves(totpRoutes.enrol)
  enrol({ actor, body }: CallOf<typeof totpRoutes.enrol>): Promise<AnswerOf<typeof totpRoutes.enrol>> {
    return this.totp.enrol(actor, body.password);
  }

  @Serves(totpRoutes.confirm)
  async confirmTotp(call: CallOf<typeof totpRoutes.confirm>): Promise<AnswerOf<typeof totpRoutes.confirm>> {
    return { recoveryCodes: await this.totp.confirm(call.actor, call.body.code, call.requestId) };
  }

  @Serves(totpRoutes.renewCodes)
  async renewCodes(
    call: CallOf<typeof totpRoutes.renewCodes>,
  ): Promise<AnswerOf<typeof totpRoutes.renewCodes>> {
    return { recoveryCodes: await this.totp.renewCodes(call.actor, call.body.password, call.requestId) };
  }

  @Serves(totpRoutes.disable)
  async disableTotp({ actor, body, requestId }: CallOf<typeof totpRoutes.disable>): Promise<void> {
    await this.totp.disable(actor, body.password, requestId);
  }

  /** Sets the cookie of a new session and ends the one that the browser had. */
  private async enter({ session, reply }: Arrival, opened: OpenedSession): Promise<SessionView> {
    const found = await this.sessions.find(opened.token);
    if (!found) throw new ApiError('not_signed_in', 'The session was ended at once.');
    if (session) await this.sessions.revoke(session.actor.userId, session.actor.sessionId);
    this.cookie.set(reply, opened.token);
    const { userId, accountId, email, roles } = found.actor;
    return { userId, accountId, email, roles: [...roles], csrfToken: opened.csrfToken };
  }
}

function originOf(request: FastifyRequest): Origin {
  return { ip: request.ip, userAgent: request.headers['user-agent'] ?? null };
}
