import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { TicketService } from '#support/ticket.service.js';
import { GroupGrants } from '#support/group-grants.js';
import { TicketsModule } from '../tickets/tickets.module.js';
import { GrantsController } from './grants.controller.js';
import { constructed } from '#platform/wiring.js';

/** Which accounts can create keys in which groups. */
@Module({
  imports: [TicketsModule],
  controllers: [GrantsController],
  providers: [constructed(GroupGrants, DataSource, TicketService)],
})
export class GrantsModule {}
