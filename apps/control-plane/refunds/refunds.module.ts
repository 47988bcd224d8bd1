import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { OutboxRelay } from '#bus/outbox.js';
import { ApprovalService } from '#approvals/approval.service.js';
import { TicketService } from '#support/ticket.service.js';
import { ChargeRefundService } from '#support/charge-refund.service.js';
import { POOL } from '../control-plane.tokens.js';
import { TicketsModule } from '../tickets/tickets.module.js';
import { RefundsController } from './refunds.controller.js';
import { provided } from '#platform/wiring.js';

/** Refunds after settlement. */
@Module({
  imports: [TicketsModule],
  controllers: [RefundsController],
  providers: [
    provided(ChargeRefundService, {
      source: DataSource,
      pool: POOL,
      tickets: TicketService,
      approvals: ApprovalService,
      relay: OutboxRelay,
    }),
  ],
})
export class RefundsModule {}
