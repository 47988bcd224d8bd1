import { Module } from '@nestjs/common';
import { UsageController } from './usage.controller.js';

/** The usage log and the statement. */
@Module({ controllers: [UsageController] })
export class UsageModule {}
