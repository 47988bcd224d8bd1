import { Module } from '@nestjs/common';
import { ActivityController } from './activity.controller.js';

/** What customers may know and decide about their own data. */
@Module({
  controllers: [ActivityController],
})
export class PrivacyModule {}
