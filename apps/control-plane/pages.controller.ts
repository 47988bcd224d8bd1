import { Controller, Get, Req, Res } from '@nestjs/common';
import { Using } from '#platform/wiring.js';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ConsolePages } from './console.pages.js';
import { BASE_URL } from './control-plane.tokens.js';
import { unknownUrl } from './http/error.filter.js';
import { pageLanguageOf } from './http/page-language.js';
import { sentSession } from './http/session-cookie.js';

/** Never a page: the API, the files of the pages, and the page of simulated payments. */
const NO_PAGE = /^\/(api|assets|sandbox-pay)(\/|$)/;

/** Browsers retry automatically: `npm start` builds the pages within its first minute. */
const RETRY_SECONDS = 2;
const NOT_BUILT = `<!doctype html>
<meta charset="utf-8">
<meta http-equiv="refresh" content="${RETRY_SECONDS}">
<title>Tollgate</title>
<h1>The console is not built yet</h1>
<p>After npm start this takes less than a minute, and this page reloads by itself.
Otherwise run: npm run build. The API works without it.</p>
`;

/** The pages of the console, at every address that nothing else serves. */
@Controller()
export class PagesController extends Using({ pages: ConsolePages, baseUrl: BASE_URL }) {
  @Get()
  start(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply): string {
    return this.page(request, reply);
  }

  /** A page finds out from its address what to show, so the document is the same for all. */
  @Get('*')
  page(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply): string {
    const path = request.url.split('?', 1)[0] as string;
    const wantsPage = path === '/' || (request.headers.accept ?? '').includes('text/html');
    if (NO_PAGE.test(path) || !wantsPage) throw unknownUrl(request, this.baseUrl());
    const isLanding = path === '/' && sentSession(request) === undefined;
    const page = isLanding ? this.pages.landing(pageLanguageOf(request)) : this.pages.document();
    if (!page) {
      void reply.code(503).type('text/html; charset=utf-8').header('retry-after', RETRY_SECONDS);
      return NOT_BUILT;
    }
    void reply.headers({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': page.policy,
      vary: 'accept, accept-language, cookie',
    });
    return page.html;
  }
}
