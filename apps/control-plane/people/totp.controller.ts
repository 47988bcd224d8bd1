import { Controller } from '@nestjs/common';
import { ConfirmationService } from '#people/confirmation.service.js';
import { TotpService } from '#people/totp.service.js';
import { Using } from '#platform/wiring.js';
import { type CallOf, Serves } from '../http/route.js';
import { sessionRoutes, totpRoutes } from './session.routes.js';

/** One-time codes as the second factor, and the proof that a person is still there. */
@Controller()
export class TotpController extends Using({ totp: TotpService, confirmations: ConfirmationService }) {
  @Serves(sessionRoutes.confirm)
  async confirmSession({ actor, body }: CallOf<typeof sessionRoutes.confirm>): Promise<void> {
    await this.confirmations.confirm(actor, body);
  }

  @Serves(totpRoutes.show)
  showTotp({ actor }: CallOf<typeof totpRoutes.show>) {
    return this.totp.state(actor);
  }

  @Serves(totpRoutes.enrol)
  enrol({ actor, body }: CallOf<typeof totpRoutes.enrol>) {
    return this.totp.enrol(actor, body.password);
  }

  @Serves(totpRoutes.confirm)
  async confirmTotp(call: CallOf<typeof totpRoutes.confirm>) {
    return { recoveryCodes: await this.totp.confirm(call.actor, call.body.code, call.requestId) };
  }

  @Serves(totpRoutes.renewCodes)
  async renewCodes(call: CallOf<typeof totpRoutes.renewCodes>) {
    return { recoveryCodes: await this.totp.renewCodes(call.actor, call.body.password, call.requestId) };
  }

  @Serves(totpRoutes.disable)
  async disableTotp({ actor, body, requestId }: CallOf<typeof totpRoutes.disable>): Promise<void> {
    await this.totp.disable(actor, body.password, requestId);
  }
}
