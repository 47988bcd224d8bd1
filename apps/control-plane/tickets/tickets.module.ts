import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { AccountRates } from '#topup/account-rates.js';
import { ChargeRefundService } from '#support/charge-refund.service.js';
import { GroupGrants } from '#support/group-grants.js';
import { ResellerService } from '#support/reseller.service.js';
import { TicketService } from '#support/ticket.service.js';
import { constructed, provided } from '#platform/wiring.js';
import { SHARED_WITH_APPROVALS } from '../control-plane.tokens.js';
import { GrantsController } from '../grants/grants.controller.js';
import { RefundsController } from '../refunds/refunds.controller.js';
import { SupportTicketsController } from './support-tickets.controller.js';
import { TicketsController } from './tickets.controller.js';

/** Tickets of customers, and what support decides because of them: groups, the reseller rate, refunds after settlement. */
@Module({
  controllers: [GrantsController, RefundsController, SupportTicketsController, TicketsController],
  providers: [
    constructed(TicketService, DataSource),
    constructed(GroupGrants, DataSource, TicketService),
    constructed(ResellerService, DataSource, TicketService, AccountRates),
    provided(ChargeRefundService, { ...SHARED_WITH_APPROVALS, tickets: TicketService }),
  ],
  exports: [TicketService],
})
export class TicketsModule {}
