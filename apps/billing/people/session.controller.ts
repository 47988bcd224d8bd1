import { Controller } from '@nestjs/common';
import { type AnswerOf, type CallOf, Serves } from '../http/route.js';
import { sessionRoutes } from './session.routes.js';

@Controller()
export class SessionController {
  @Serves(sessionRoutes.show)
  async show({ session }: CallOf<typeof sessionRoutes.show>): Promise<AnswerOf<typeof sessionRoutes.show>> {
    const { userId, accountId, email, roles } = session.actor;
    return { userId, accountId, email, roles: [...roles], csrfToken: session.csrfToken };
  }
}
