import { Module } from '@nestjs/common';
import { requestLogJob } from './request-log.job.js';
import { StatementsController } from './statements.controller.js';
import { UsageController } from './usage.controller.js';

@Module({ controllers: [StatementsController, UsageController], providers: [requestLogJob] })
export class UsageModule {}
