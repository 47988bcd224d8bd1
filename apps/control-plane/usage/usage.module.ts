import { Module } from '@nestjs/common';
import { StatementsController } from './statements.controller.js';
import { UsageController } from './usage.controller.js';

/** The usage log and the statement. */
@Module({ controllers: [StatementsController, UsageController] })
export class UsageModule {}
