import { Module } from '@nestjs/common';
import type pg from 'pg';
import { DataSource } from 'typeorm';
import { OutboxRelay } from '#bus/outbox.js';
import { ApprovalDesk } from '#approvals/approval.service.js';
import { TicketDesk } from '#support/ticket.service.js';
import { RefundDesk } from '#support/charge-refund.service.js';
import { POOL } from '../control-plane.tokens.js';
import { TicketsModule } from '../tickets/tickets.module.js';
import { RefundsController } from './refunds.controller.js';

type Inputs = [DataSource, pg.Pool, TicketDesk, ApprovalDesk, OutboxRelay];

/** Refunds after settlement. */
@Module({
  imports: [TicketsModule],
  controllers: [RefundsController],
  providers: [
    {
      provide: RefundDesk,
      useFactory: (...[source, pool, tickets, approvals, relay]: Inputs) =>
        new RefundDesk({ source, pool, tickets, approvals, relay }),
      inject: [DataSource, POOL, TicketDesk, ApprovalDesk, OutboxRelay],
    },
  ],
})
export class RefundsModule {}
