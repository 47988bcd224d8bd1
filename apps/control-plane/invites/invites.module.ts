import { Module } from '@nestjs/common';
import { InvitesController } from './invites.controller.js';

/** Who was invited by whom, and what it earned. */
@Module({ controllers: [InvitesController] })
export class InvitesModule {}
