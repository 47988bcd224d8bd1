import { Controller, Get, Header, Inject, UseGuards } from '@nestjs/common';
import { type ReadinessChecks, readiness } from '#platform/health.js';
import type { ControlPlaneConfig } from './control-plane.config.js';
import { BASE_URL, CONTROL_PLANE_CONFIG, READINESS } from './control-plane.tokens.js';
import { consoleRoutes } from './console.routes.js';
import { type CallOf, Serves } from './http/route.js';
import { RequestThrottle } from './http/request-throttle.js';
import { viewSession } from './people/session.view.js';

/** What the console address serves beside the control plane: the pages, and whether it is well. */
@Controller()
export class ConsoleController {
  constructor(
    @Inject(READINESS) private readonly checks: ReadinessChecks,
    @Inject(CONTROL_PLANE_CONFIG) private readonly config: ControlPlaneConfig,
    @Inject(BASE_URL) private readonly baseUrl: () => string,
  ) {}

  @Serves(consoleRoutes.relay)
  relay(_call: CallOf<typeof consoleRoutes.relay>) {
    return { baseUrl: this.baseUrl(), paymentCurrency: this.config.payments.currency };
  }

  @Serves(consoleRoutes.session)
  session({ session }: CallOf<typeof consoleRoutes.session>) {
    const isStaff = session?.actor.roles.some((role) => role !== 'user') ?? false;
    return { session: session && viewSession(session), onePerson: isStaff && this.config.duties.onePerson };
  }

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
