import { Controller, Get, Header, UseGuards } from '@nestjs/common';
import { readiness } from '#platform/health.js';
import { Using } from '#platform/wiring.js';
import { READINESS } from './control-plane.tokens.js';
import { RequestThrottle } from './http/request-throttle.js';

/** The public health of the program behind the console. */
@Controller()
export class StatusController extends Using({ checks: READINESS }) {
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
