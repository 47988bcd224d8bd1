import { Module } from '@nestjs/common';
import { SessionController } from './session.controller.js';

/** People: who they are and how they sign in. */
@Module({ controllers: [SessionController] })
export class PeopleModule {}
