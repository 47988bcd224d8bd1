import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { SupportTicketsController } from './support-tickets.controller.js';
import { TicketDesk } from './ticket.desk.js';
import { TicketsController } from './tickets.controller.js';

/** What customers want of support. */
@Module({
  controllers: [TicketsController, SupportTicketsController],
  providers: [
    { provide: TicketDesk, useFactory: (source: DataSource) => new TicketDesk(source), inject: [DataSource] },
  ],
  exports: [TicketDesk],
})
export class TicketsModule {}
