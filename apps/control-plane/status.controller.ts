import { Controller, Get, Header, Inject, UseGuards } from '@nestjs/common';
import { type ReadinessChecks, readiness } from '#platform/health.js';
import { READINESS } from './control-plane.tokens.js';
import { RequestThrottle } from './http/request-throttle.js';

/** The public health of the program behind the console. */
@Controller()
export class StatusController {
  constructor(@Inject(READINESS) private readonly checks: ReadinessChecks) {}

  @Get('api/status')
  @UseGuards(RequestThrottle)
  @Header('cache-control', 'no-store')
  async status(): Promise<{
    service: string;
    program: string;
    ready: boolean;
    checks: Record<string, string>;
  }> {
    return { service: 'tollgate', program: 'control-plane', ...(await readiness(this.checks)) };
  }
}
