import { Controller, Get, Header, Inject } from '@nestjs/common';
import { type ReadinessChecks, readiness } from '#platform/health.js';
import { READINESS } from './billing.tokens.js';

const LANDING_PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Tollgate console</title>
<style>body{font:16px/1.6 system-ui,sans-serif;max-width:40rem;margin:4rem auto;padding:0 1rem}code{font-size:.95em}</style>
<h1>Tollgate</h1>
<p>This is the console address of a Tollgate relay. It serves no API calls for models: those go to the relay's base
address, with an API key.</p>
<p>There are no pages here yet. What they will stand on is below <code>/api</code>, described by
<a href="/api/openapi.json">/api/openapi.json</a>; <a href="/api/public/prices">/api/public/prices</a> is the price list and
<a href="/api/status">/api/status</a> says whether billing is well. Operators have the command-line tool:
<code>npx --no-install tollgate --help</code>.</p>
</html>
`;

/** What the console address serves beside the control plane: where you are, and whether billing is well. */
@Controller()
export class ConsoleController {
  constructor(@Inject(READINESS) private readonly checks: ReadinessChecks) {}

  @Get()
  @Header('content-type', 'text/html; charset=utf-8')
  @Header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'")
  landing(): string {
    return LANDING_PAGE;
  }

  @Get('api/status')
  @Header('cache-control', 'no-store')
  async status(): Promise<{
    service: string;
    program: string;
    ready: boolean;
    checks: Record<string, string>;
  }> {
    return { service: 'tollgate', program: 'billing', ...(await readiness(this.checks)) };
  }
}
