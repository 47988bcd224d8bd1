import { Module } from '@nestjs/common';
import { ActivityController } from './activity.controller.js';
import { RetentionController } from './retention.controller.js';
import { RetentionLoop } from './retention.loop.js';

/** What customers may know and decide about their own data. */
@Module({
  controllers: [ActivityController, RetentionController],
  providers: [RetentionLoop],
})
export class PrivacyModule {}
