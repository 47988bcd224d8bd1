import { Controller, Get, Inject, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ConsolePages } from './console.pages.js';
import { unknownUrl } from './http/error.filter.js';

/** What is never a page: the control plane, files of the pages, and the page of played payments. */
const NO_PAGE = /^\/(api|assets|sandbox-pay)(\/|$)/;

const NOT_BUILT =
  'The pages of the console are not there: npm run build makes them. /api works without them.\n';

/** The pages of the console, at every address that is no other. */
@Controller()
export class PagesController {
  constructor(@Inject(ConsolePages) private readonly pages: ConsolePages) {}

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
