import { Controller, Get, Header, Inject, Req, Res, UseGuards } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ReadinessChecks, readiness } from '#platform/health.js';
import type { ControlPlaneConfig } from './control-plane.config.js';
import { BASE_URL, CONFIG, READINESS } from './control-plane.tokens.js';
import { ConsolePages } from './console.pages.js';
import { consoleRoutes } from './console.routes.js';
import { unknownUrl } from './http/error.filter.js';
import { type AnswerOf, type CallOf, Serves } from './http/route.js';
import { RequestThrottle } from './http/request-throttle.js';
import { viewSession } from './people/session.view.js';

/** What is never a page: the control plane, files of the pages, and the page of played payments. */
const NO_PAGE = /^\/(api|assets|sandbox-pay)(\/|$)/;

const NOT_BUILT =
  'The pages of the console are not there: npm run build makes them. /api works without them.\n';

/** What the console address serves beside the control plane: the pages, and whether it is well. */
@Controller()
export class ConsoleController {
  constructor(
    @Inject(READINESS) private readonly checks: ReadinessChecks,
    @Inject(ConsolePages) private readonly pages: ConsolePages,
    @Inject(CONFIG) private readonly config: ControlPlaneConfig,
    @Inject(BASE_URL) private readonly baseUrl: () => string,
  ) {}

  @Serves(consoleRoutes.relay)
  relay(_call: CallOf<typeof consoleRoutes.relay>): AnswerOf<typeof consoleRoutes.relay> {
    return { baseUrl: this.baseUrl(), paymentCurrency: this.config.payments.currency };
  }

  @Serves(consoleRoutes.session)
  session({ session }: CallOf<typeof consoleRoutes.session>): AnswerOf<typeof consoleRoutes.session> {
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

  @Get()
  start(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply): string {
    return this.page(request, reply);
  }

  /** The pages find out by their address what they show, so the document is the same for each. */
  @Get('*')
  page(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply): string {
    const path = request.url.split('?', 1)[0] as string;
    const wantsPage = path === '/' || (request.headers.accept ?? '').includes('text/html');
    if (NO_PAGE.test(path) || !wantsPage) throw unknownUrl(request);
    const page = this.pages.document();
    if (!page) {
      void reply.code(503).type('text/plain; charset=utf-8');
      return NOT_BUILT;
    }
    void reply.headers({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': page.policy,
      vary: 'accept',
    });
    return page.html;
  }
}
