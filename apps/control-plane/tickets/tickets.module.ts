import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { AccountRates } from '#topup/account-rates.js';
import { ResellerService } from '#support/reseller.service.js';
import { TicketService } from '#support/ticket.service.js';
import { SupportTicketsController } from './support-tickets.controller.js';
import { TicketsController } from './tickets.controller.js';

/** What customers want of support. */
@Module({
  controllers: [TicketsController, SupportTicketsController],
  providers: [
    {
      provide: TicketService,
      useFactory: (source: DataSource) => new TicketService(source),
      inject: [DataSource],
    },
    {
      provide: ResellerService,
      useFactory: (source: DataSource, tickets: TicketService, rates: AccountRates) =>
        new ResellerService(source, tickets, rates),
      inject: [DataSource, TicketService, AccountRates],
    },
  ],
  exports: [TicketService],
})
export class TicketsModule {}
