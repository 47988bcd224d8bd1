import { Controller } from '@nestjs/common';
import { SessionStore } from '#identity/session.store.js';
import { ApiError } from '#platform/errors.js';
import { SignInService } from '#people/sign-in.service.js';
import { Using } from '#platform/wiring.js';
import { type CallOf, Serves } from '../http/route.js';
import { Entrance, signInOrigin } from './entrance.js';
import { sessionRoutes } from './session.routes.js';
import { viewSession } from './session.view.js';

@Controller()
export class SessionController extends Using({
  sessions: SessionStore,
  entrance: Entrance,
  signIns: SignInService,
}) {
  @Serves(sessionRoutes.show)
  show({ session }: CallOf<typeof sessionRoutes.show>) {
    return viewSession(session);
  }

  @Serves(sessionRoutes.signIn)
  async signIn(call: CallOf<typeof sessionRoutes.signIn>) {
    return this.entrance.enter(call, await this.signIns.signIn(call.body, signInOrigin(call.request)));
  }

  @Serves(sessionRoutes.signOut)
  async signOut({ actor, reply }: CallOf<typeof sessionRoutes.signOut>): Promise<void> {
    await this.sessions.revoke(actor.userId, actor.sessionId);
    this.entrance.leave(reply);
  }

  @Serves(sessionRoutes.list)
  async list({ actor }: CallOf<typeof sessionRoutes.list>) {
    const found = await this.sessions.list(actor.userId);
    return { items: found.map((each) => ({ ...each, isCurrent: each.sessionId === actor.sessionId })) };
  }

  @Serves(sessionRoutes.revoke)
  async revoke({ actor, params }: CallOf<typeof sessionRoutes.revoke>): Promise<void> {
    if (!(await this.sessions.revoke(actor.userId, params.sessionId)))
      throw new ApiError('not_found', 'You have no such session.');
  }

  @Serves(sessionRoutes.revokeAll)
  async revokeAll({ actor, query, reply }: CallOf<typeof sessionRoutes.revokeAll>) {
    const isKept = query.keepThis;
    const revoked = await this.sessions.revokeAll(actor.userId, isKept ? actor.sessionId : null);
    if (!isKept) this.entrance.leave(reply);
    return { revoked };
  }
}
