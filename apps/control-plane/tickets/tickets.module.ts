import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { AccountRates } from '#topup/account-rates.js';
import { ResellerService } from '#support/reseller.service.js';
import { TicketService } from '#support/ticket.service.js';
import { SupportTicketsController } from './support-tickets.controller.js';
import { TicketsController } from './tickets.controller.js';
import { constructed } from '#platform/wiring.js';

/** Tickets of customers. */
@Module({
  controllers: [TicketsController, SupportTicketsController],
  providers: [
    constructed(TicketService, DataSource),
    constructed(ResellerService, DataSource, TicketService, AccountRates),
  ],
  exports: [TicketService],
})
export class TicketsModule {}
