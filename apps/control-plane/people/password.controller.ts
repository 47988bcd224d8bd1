import { Controller } from '@nestjs/common';
import { PasswordService } from '#people/password.service.js';
import { Using } from '#platform/wiring.js';
import { type CallOf, Serves } from '../http/route.js';
import { Entrance, signInOrigin } from './entrance.js';
import { passwordRoutes } from './session.routes.js';

/** What people prove themselves with: passwords and one-time codes. */
@Controller()
export class PasswordController extends Using({ entrance: Entrance, passwords: PasswordService }) {
  @Serves(passwordRoutes.requestReset)
  async requestReset({ body, request }: CallOf<typeof passwordRoutes.requestReset>): Promise<void> {
    await this.passwords.requestReset(body.email, signInOrigin(request));
  }

  @Serves(passwordRoutes.reset)
  async reset(call: CallOf<typeof passwordRoutes.reset>) {
    return this.entrance.enter(
      call,
      await this.passwords.reset(call.body, signInOrigin(call.request), call.requestId),
    );
  }

  @Serves(passwordRoutes.change)
  async change({ actor, body, requestId }: CallOf<typeof passwordRoutes.change>): Promise<void> {
    await this.passwords.change(actor, body, requestId);
  }
}
