import { Controller, Inject } from '@nestjs/common';
import { cachedAnswer } from '../http/cached-answer.js';
import { type CallOf, Serves } from '../http/route.js';
import { marketRoutes as routes } from './market.routes.js';
import { ServiceStatus } from './service-status.js';

/** How long others may keep what they know of the service. */
const STATUS_AGE_MS = 30_000;

/** Whether the service works, for everybody. */
@Controller()
export class ServiceStatusController {
  constructor(@Inject(ServiceStatus) private readonly service: ServiceStatus) {}

  @Serves(routes.status)
  async status(call: CallOf<typeof routes.status>) {
    return cachedAnswer(call, await this.service.now(), { ageMs: STATUS_AGE_MS, isForAll: true });
  }
}
