import { Controller } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { DataSource } from 'typeorm';
import { ApiError } from '#platform/errors.js';
import { PaymentInbox } from '#payments/payment.inbox.js';
import { SandboxProvider } from '#payments/sandbox.provider.js';
import { TopupOrder } from '#payments/topup-order.entity.js';
import { Using } from '#platform/wiring.js';
import { pageLanguageOf } from '../http/page-language.js';
import { type CallOf, Serves } from '../http/route.js';
import { PROVIDERS } from './payments.tokens.js';
import { SANDBOX_PAGE_POLICY, sandboxPage } from './sandbox-page.js';
import { sandboxRoutes } from './sandbox.routes.js';

/** The sandbox provider's own address: a page that pays or cancels, and reports it to the inbox by a signed event. */
@Controller()
export class SandboxController extends Using({
  source: DataSource,
  providers: PROVIDERS,
  inbox: PaymentInbox,
}) {
  @Serves(sandboxRoutes.page)
  async page({ params, request, reply }: CallOf<typeof sandboxRoutes.page>) {
    const { order } = await this.find(params.orderId);
    void reply.headers({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': SANDBOX_PAGE_POLICY,
      vary: 'accept-language, cookie',
    });
    return sandboxPage(order, pageLanguageOf(request));
  }

  @Serves(sandboxRoutes.pay)
  async pay({ params, reply }: CallOf<typeof sandboxRoutes.pay>): Promise<void> {
    const { order, provider } = await this.find(params.orderId);
    if (order.state === 'open') {
      const { rawBody, headers } = await provider.pay(order);
      await this.inbox.receive('sandbox', rawBody, headers);
    }
    backToConsole(reply, order);
  }

  @Serves(sandboxRoutes.cancel)
  async cancel({ params, reply }: CallOf<typeof sandboxRoutes.cancel>): Promise<void> {
    const { order, provider } = await this.find(params.orderId);
    const { rawBody, headers } = provider.cancel(order);
    await this.inbox.receive('sandbox', rawBody, headers);
    backToConsole(reply, order);
  }

  private async find(orderId: string): Promise<{ order: TopupOrder; provider: SandboxProvider }> {
    const provider = this.providers.get('sandbox');
    const where = { id: orderId, provider: 'sandbox' as const };
    const order = await this.source.getRepository(TopupOrder).findOneBy(where);
    if (provider instanceof SandboxProvider && order) return { order, provider };
    throw new ApiError('not_found', 'There is no such order.');
  }
}

/** As real providers do, after a payment and after none. */
function backToConsole(reply: FastifyReply, { id }: TopupOrder): void {
  void reply.header('location', `/topups/${id}`);
}
