import type { CallSession } from '../http/call-session.js';
import type { AnswerOf } from '../http/route.js';
import type { sessionRoutes } from './session.routes.js';

export function viewSession({
  actor,
  csrfToken,
  view: viewing,
  language,
  secondFactor,
}: CallSession): AnswerOf<typeof sessionRoutes.show> {
  const { userId, accountId, email, roles } = actor;
  return { userId, accountId, email, roles: [...roles], language, csrfToken, viewing, secondFactor };
}
