import { Controller } from '@nestjs/common';
import { Using } from '#platform/wiring.js';
import type { Readable } from 'node:stream';
import { type CallOf, Serves } from '../http/route.js';
import { LiveHub } from './live-hub.js';
import { liveRoutes as routes } from './live.routes.js';

@Controller()
export class LiveController extends Using({ hub: LiveHub }) {
  @Serves(routes.watch)
  watch({ actor, reply }: CallOf<typeof routes.watch>): Readable {
    const stream = this.hub.watch(actor);
    // Keeps proxies from buffering or recoding the events.
    void reply.headers({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
    });
    return stream;
  }
}
