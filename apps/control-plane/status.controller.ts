import { Controller, Get, Header, UseGuards } from '@nestjs/common';
import { readiness } from '#platform/health.js';
import { Using } from '#platform/wiring.js';
import { READINESS } from './control-plane.tokens.js';
import { RequestThrottle } from './http/request-throttle.js';

/** The public health of the program behind the console. Why a check fails is only for the operator: see the health port. */
@Controller()
export class StatusController extends Using({ checks: READINESS }) {
  @Get('api/status')
  @UseGuards(RequestThrottle)
  @Header('cache-control', 'no-store')
  async status(): Promise<{
    service: string;
    program: string;
    ready: boolean;
    checks: Record<string, 'ok' | 'failed'>;
  }> {
    const { ready, checks } = await readiness(this.checks);
    const states = Object.entries(checks).map(
      ([name, state]) => [name, state === 'ok' ? 'ok' : 'failed'] as const,
    );
    return { service: 'tollgate', program: 'control-plane', ready, checks: Object.fromEntries(states) };
  }
}
