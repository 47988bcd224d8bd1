import type { CallSession } from '../http/call-session.js';
import type { AnswerOf } from '../http/route.js';
import type { sessionRoutes } from './session.routes.js';

/** What a browser knows of its session. */
export function viewSession({
  actor,
  csrfToken,
  view,
  secondFactor,
}: CallSession): AnswerOf<typeof sessionRoutes.show> {
  const { userId, accountId, email, roles } = actor;
  const viewing = view && { accountId: view.accountId, name: view.name, until: view.until.toISOString() };
  return { userId, accountId, email, roles: [...roles], csrfToken, viewing, secondFactor };
}
