import { Module } from '@nestjs/common';
import type pg from 'pg';
import { DataSource } from 'typeorm';
import { OutboxRelay } from '#bus/outbox.js';
import { ApprovalService } from '#approvals/approval.service.js';
import { TicketService } from '#support/ticket.service.js';
import { ChargeRefundService } from '#support/charge-refund.service.js';
import { POOL } from '../control-plane.tokens.js';
import { TicketsModule } from '../tickets/tickets.module.js';
import { RefundsController } from './refunds.controller.js';

type Inputs = [DataSource, pg.Pool, TicketService, ApprovalService, OutboxRelay];

/** Refunds after settlement. */
@Module({
  imports: [TicketsModule],
  controllers: [RefundsController],
  providers: [
    {
      provide: ChargeRefundService,
      useFactory: (...[source, pool, tickets, approvals, relay]: Inputs) =>
        new ChargeRefundService({ source, pool, tickets, approvals, relay }),
      inject: [DataSource, POOL, TicketService, ApprovalService, OutboxRelay],
    },
  ],
})
export class RefundsModule {}
