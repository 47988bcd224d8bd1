import { Module } from '@nestjs/common';
import { SessionStore } from '#identity/session.store.js';
import { providedBy, running } from '#platform/wiring.js';
import { type Shared, SHARED } from '../control-plane.tokens.js';
import { LiveController } from './live.controller.js';
import { LiveHub } from './live-hub.js';

/** What changes on an account, sent to the pages that are open. */
@Module({
  controllers: [LiveController],
  providers: [
    providedBy(
      LiveHub,
      ({ config, ...parts }: Shared & { sessions: SessionStore }) =>
        new LiveHub({ ...parts, config: config.console.live }),
      { ...SHARED, sessions: SessionStore },
    ),
    running(LiveHub),
  ],
})
export class LiveModule {}
