import { Controller } from '@nestjs/common';
import type { z } from 'zod';
import type { Nanos } from '#money/amount.js';
import { pageFrom, readCursorId } from '#platform/http/page.js';
import type { OrderReversals } from '#payments/order.reversals.js';
import type { TopupWish } from '#topup/conversion.js';
import { OrderStore } from '#payments/order.store.js';
import type { TopupOrder } from '#payments/topup-order.entity.js';
import { TopupService } from '#payments/topup.service.js';
import { Using } from '#platform/wiring.js';
import { CONTROL_PLANE_CONFIG } from '../control-plane.tokens.js';
import { type CallOf, Serves } from '../http/route.js';
import { type orderView, topupRoutes } from './topups.routes.js';

@Controller()
export class TopupsController extends Using({
  service: TopupService,
  orders: OrderStore,
  config: CONTROL_PLANE_CONFIG,
}) {
  @Serves(topupRoutes.quote)
  async quote({ actor, query }: CallOf<typeof topupRoutes.quote>) {
    const { payMinor: pay, ...quote } = await this.orders.quote(actor.accountId, wishOf(query));
    return { ...quote, pay, providers: this.service.providers() };
  }

  @Serves(topupRoutes.create)
  async create({ actor, body }: CallOf<typeof topupRoutes.create>) {
    const { provider, requestId } = body;
    const { accountId } = actor;
    return this.view(await this.service.order({ accountId, wish: wishOf(body), provider, requestId }));
  }

  @Serves(topupRoutes.list)
  async list({ actor, query }: CallOf<typeof topupRoutes.list>) {
    const beforeId = readCursorId(query.cursor);
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
    const { id, provider } = order;
    const isOpen = order.state === 'open';
    const { bankInstructions } = this.config.payments;
    return {
      ...order,
      pay: order.paidMinor,
      checkoutUrl: isOpen ? order.checkoutUrl : null,
      instructions:
        isOpen && provider === 'manual' ? `${bankInstructions ?? ''}\nReference: ${id}`.trim() : null,
    };
  }
}

type View = z.input<typeof orderView>;

type Reversal = OrderReversals['refunds' | 'disputes'][number];

function viewReversal<One extends Reversal>({ state, payMinor: pay, ...rest }: One) {
  return { ...rest, state: state as One['state'], pay };
}

/** The contract has checked that it is one of them. */
function wishOf({ credits, pay }: { credits?: Nanos | undefined; pay?: bigint | undefined }): TopupWish {
  return credits === undefined ? { payMinor: pay ?? 0n } : { credits };
}
