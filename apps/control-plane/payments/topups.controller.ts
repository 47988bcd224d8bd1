import { Controller, Inject } from '@nestjs/common';
import type { z } from 'zod';
import type { Nanos } from '#money/amount.js';
import { viewAmount } from '#platform/http/fields.js';
import { pageFrom, readCursor } from '#platform/http/page.js';
import { viewPayment } from '#payments/payment.fields.js';
import type { OrderReversals } from '#payments/order.reversals.js';
import { OrderStore, type OrderAmount } from '#payments/order.store.js';
import type { TopupOrder } from '#payments/topup-order.entity.js';
import { TopupService } from '#payments/topup.service.js';
import type { ControlPlaneConfig } from '../control-plane.config.js';
import { CONFIG } from '../control-plane.tokens.js';
import { type CallOf, Serves } from '../http/route.js';
import { type orderView, topupRoutes } from './topups.routes.js';

@Controller()
export class TopupsController {
  constructor(
    @Inject(TopupService) private readonly service: TopupService,
    @Inject(OrderStore) private readonly orders: OrderStore,
    @Inject(CONFIG) private readonly config: ControlPlaneConfig,
  ) {}

  @Serves(topupRoutes.quote)
  async quote({ actor, query }: CallOf<typeof topupRoutes.quote>) {
    const { credits, payMinor, currency, rate } = await this.orders.quote(actor.accountId, wishOf(query));
    const providers = this.service.providers();
    return { credits: viewAmount(credits), pay: viewPayment(payMinor), currency, rate, providers };
  }

  @Serves(topupRoutes.create)
  async create({ actor, body }: CallOf<typeof topupRoutes.create>) {
    const { provider, requestId } = body;
    const { accountId } = actor;
    return this.view(await this.service.order({ accountId, wish: wishOf(body), provider, requestId }));
  }

  @Serves(topupRoutes.list)
  async list({ actor, query }: CallOf<typeof topupRoutes.list>) {
    const [beforeId = null] = readCursor(query.cursor, 1) ?? [];
    const orders = await this.orders.list(actor.accountId, query.limit, beforeId);
    const page = pageFrom(orders, query.limit, ({ id }) => [id]);
    return { ...page, items: page.items.map((order) => this.view(order)) };
  }

  @Serves(topupRoutes.show)
  async show({ actor, params }: CallOf<typeof topupRoutes.show>) {
    const order = await this.orders.show(actor.accountId, params.orderId);
    const { refunds, disputes } = await this.orders.reversalsOf(order);
    return { ...this.view(order), refunds: refunds.map(viewReversal), disputes: disputes.map(viewReversal) };
  }

  @Serves(topupRoutes.cancel)
  async cancel({ actor, params }: CallOf<typeof topupRoutes.cancel>) {
    return this.view(await this.service.cancel(actor.accountId, params.orderId));
  }

  private view(order: TopupOrder): View {
    const { id, state, credits, paidMinor, currency, rate, provider, checkoutUrl, topupId } = order;
    const isOpen = state === 'open';
    const { bankInstructions } = this.config.payments;
    return {
      id,
      state,
      currency,
      rate,
      provider,
      topupId,
      credits: viewAmount(credits),
      pay: viewPayment(paidMinor),
      checkoutUrl: isOpen ? checkoutUrl : null,
      instructions:
        isOpen && provider === 'manual' ? `${bankInstructions ?? ''}\nReference: ${id}`.trim() : null,
      createdAt: order.createdAt.toISOString(),
      expiresAt: order.expiresAt.toISOString(),
      paidAt: order.paidAt?.toISOString() ?? null,
    };
  }
}

type View = z.output<typeof orderView>;

type Reversal = OrderReversals['refunds' | 'disputes'][number];

function viewReversal<One extends Reversal>({ state, ...rest }: One) {
  return {
    state: state as One['state'],
    credits: viewAmount(rest.credits),
    pay: viewPayment(rest.payMinor),
    at: rest.at.toISOString(),
    endedAt: rest.endedAt?.toISOString() ?? null,
  };
}

/** The contract has checked that it is one of them. */
function wishOf({ credits, pay }: { credits?: Nanos | undefined; pay?: bigint | undefined }): OrderAmount {
  return credits === undefined ? { payMinor: pay ?? 0n } : { credits };
}
