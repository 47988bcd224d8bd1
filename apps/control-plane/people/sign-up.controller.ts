import { Controller } from '@nestjs/common';
import { SignUpService } from '#people/sign-up.service.js';
import { Using } from '#platform/wiring.js';
import { type CallOf, Serves } from '../http/route.js';
import { Entrance, signInOrigin } from './entrance.js';
import { sessionRoutes } from './session.routes.js';

/** How a person becomes a customer. */
@Controller()
export class SignUpController extends Using({ entrance: Entrance, signUps: SignUpService }) {
  @Serves(sessionRoutes.signUp)
  async signUp({ body, request }: CallOf<typeof sessionRoutes.signUp>): Promise<void> {
    await this.signUps.request(body, signInOrigin(request));
  }

  @Serves(sessionRoutes.confirmSignUp)
  async confirmSignUp(call: CallOf<typeof sessionRoutes.confirmSignUp>) {
    return this.entrance.enter(call, await this.signUps.confirm(call.body, signInOrigin(call.request)));
  }
}
