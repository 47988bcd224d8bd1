import type { Actor } from '#identity/role.js';
import type { AnswerOf } from '../http/route.js';
import type { sessionRoutes } from './session.routes.js';

/** What a browser knows of its session. */
export function viewSession(actor: Actor, csrfToken: string): AnswerOf<typeof sessionRoutes.show> {
  const { userId, accountId, email, roles } = actor;
  return { userId, accountId, email, roles: [...roles], csrfToken };
}
