import { Controller } from '@nestjs/common';
import { Using } from '#platform/wiring.js';
import { cachedAnswer } from '../http/cached-answer.js';
import { type CallOf, Serves } from '../http/route.js';
import { marketRoutes as routes } from './market.routes.js';
import { ServiceStatus } from './service-status.js';

/** How long others may cache the status. */
const STATUS_AGE_MS = 30_000;

@Controller()
export class ServiceStatusController extends Using({ service: ServiceStatus }) {
  @Serves(routes.status)
  async status(call: CallOf<typeof routes.status>) {
    return cachedAnswer(call, await this.service.now(), { ageMs: STATUS_AGE_MS, isForAll: true });
  }
}
