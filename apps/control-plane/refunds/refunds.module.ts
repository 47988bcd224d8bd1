import { Module } from '@nestjs/common';
import { TicketService } from '#support/ticket.service.js';
import { ChargeRefundService } from '#support/charge-refund.service.js';
import { SHARED_WITH_APPROVALS } from '../control-plane.tokens.js';
import { TicketsModule } from '../tickets/tickets.module.js';
import { RefundsController } from './refunds.controller.js';
import { provided } from '#platform/wiring.js';

/** Refunds after settlement. */
@Module({
  imports: [TicketsModule],
  controllers: [RefundsController],
  providers: [provided(ChargeRefundService, { ...SHARED_WITH_APPROVALS, tickets: TicketService })],
})
export class RefundsModule {}
