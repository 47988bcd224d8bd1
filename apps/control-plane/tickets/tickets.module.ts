import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { AccountRates } from '#topup/account-rates.js';
import { ResellerDesk } from '#support/reseller.service.js';
import { TicketDesk } from '#support/ticket.service.js';
import { SupportTicketsController } from './support-tickets.controller.js';
import { TicketsController } from './tickets.controller.js';

/** What customers want of support. */
@Module({
  controllers: [TicketsController, SupportTicketsController],
  providers: [
    { provide: TicketDesk, useFactory: (source: DataSource) => new TicketDesk(source), inject: [DataSource] },
    {
      provide: ResellerDesk,
      useFactory: (source: DataSource, tickets: TicketDesk, rates: AccountRates) =>
        new ResellerDesk(source, tickets, rates),
      inject: [DataSource, TicketDesk, AccountRates],
    },
  ],
  exports: [TicketDesk],
})
export class TicketsModule {}
