import { Controller } from '@nestjs/common';
import { PaymentInbox } from '#payments/payment.inbox.js';
import { Using } from '#platform/wiring.js';
import { type CallOf, Serves } from '../http/route.js';
import { topupRoutes } from './topups.routes.js';

/** Where providers report what happened. */
@Controller()
export class PaymentEventsController extends Using({ inbox: PaymentInbox }) {
  /** The signature is over the body as it came, so that is what is checked. */
  @Serves(topupRoutes.event)
  async event({ params, request }: CallOf<typeof topupRoutes.event>) {
    await this.inbox.receive(params.provider, Buffer.concat(request.sentBytes ?? []), request.headers);
    return { received: true as const };
  }
}
