import { Controller, Inject, type RawBodyRequest } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { type CallOf, Serves } from '../http/route.js';
import { PaymentInbox } from './payment.inbox.js';
import { topupRoutes } from './topups.routes.js';

/** Where providers tell what happened. */
@Controller()
export class PaymentEventsController {
  constructor(@Inject(PaymentInbox) private readonly inbox: PaymentInbox) {}

  /** The signature is over the body as it came, so that is what is checked. */
  @Serves(topupRoutes.event)
  async event({ params, request }: CallOf<typeof topupRoutes.event>): Promise<{ received: true }> {
    const { rawBody = Buffer.alloc(0) } = request as RawBodyRequest<FastifyRequest>;
    await this.inbox.receive(params.provider, rawBody, request.headers);
    return { received: true };
  }
}
