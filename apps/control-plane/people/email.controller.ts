import { Controller } from '@nestjs/common';
import { EmailService } from '#people/email.service.js';
import { Using } from '#platform/wiring.js';
import { type CallOf, Serves } from '../http/route.js';
import { signInOrigin } from './entrance.js';
import { emailRoutes } from './session.routes.js';

/** Where people are reached, and what they sign in with. */
@Controller()
export class EmailController extends Using({ emails: EmailService }) {
  @Serves(emailRoutes.request)
  async request({ actor, body, request }: CallOf<typeof emailRoutes.request>): Promise<void> {
    await this.emails.request(actor, body, signInOrigin(request));
  }

  @Serves(emailRoutes.setLanguage)
  async setLanguage({ actor, body }: CallOf<typeof emailRoutes.setLanguage>): Promise<void> {
    await this.emails.setLanguage(actor, body.language);
  }

  @Serves(emailRoutes.confirm)
  confirm({ body, requestId }: CallOf<typeof emailRoutes.confirm>) {
    return this.emails.confirm(body.token, requestId);
  }
}
