import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { builtFolder } from '#platform/places.js';
import { KEEP_BY_NAME } from './console.pages.js';

/** Browsers retry automatically: `npm start` builds the site after the pages of the console. */
const RETRY_SECONDS = 5;
const NOT_BUILT = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="${RETRY_SECONDS}">
<title>Documentation · Tollgate</title>
<h1>The documentation is not built yet</h1>
<p>After npm start this takes a minute or two, and this page reloads by itself.
Elsewhere run: npm run docs -- --build. The same pages are Markdown files in the folder docs/.</p>
<p><a href="/">Console</a> · <a href="/api/openapi.json">OpenAPI document</a></p>
</html>
`;

const NOTHING_RUNS = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/** Pages are revalidated each time: a 304 is cheap, and a new release shows immediately. */
const REVALIDATE = 'no-cache';
const NOT_FOUND = '404.html';

/** The documentation as `npm run docs -- --build` left it, at `/docs`. It is public and the same for everyone. */
export class DocsPages {
  private site: Site | null = null;

  constructor(private readonly folder: string) {}

  static built(): DocsPages {
    return new DocsPages(join(builtFolder, 'docs'));
  }

  serve(server: FastifyInstance): void {
    void server.register(async (scope) => {
      await scope.register(fastifyStatic, {
        root: this.folder,
        serve: false,
        preCompressed: true,
        cacheControl: false,
      });
      scope.get('/docs', async (request, reply) => {
        // The pages find their place below this address.
        if (!request.url.startsWith('/docs/')) return reply.redirect('/docs/', 308);
        const site = this.current();
        return site ? answer(site, '', reply) : notBuilt(reply);
      });
      scope.get('/docs/*', async (request, reply) => {
        const site = this.current();
        return site ? answer(site, pathOf(request), reply) : notBuilt(reply);
      });
    });
  }

  /** A new build may take the place of the one before while this runs; its files have other names. */
  private current(): Site | null {
    const builtAtMs = builtAt(this.folder);
    if (builtAtMs === null) return null;
    if (this.site?.builtAtMs !== builtAtMs) this.site = readSite(this.folder, builtAtMs);
    return this.site;
  }
}

interface Site {
  builtAtMs: number;
  /** The file of each address below /docs/. */
  files: ReadonlyMap<string, string>;
  policy: string;
}

function builtAt(folder: string): number | null {
  return statSync(join(folder, NOT_FOUND), { throwIfNoEntry: false })?.mtimeMs ?? null;
}

function readSite(folder: string, builtAtMs: number): Site {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => /\.\w+$/.test(name) && !/(\.(br|gz)|^\..*)$/.test(name));
  return {
    builtAtMs,
    files: new Map(files.flatMap((name) => addressesOf(name).map((address) => [address, name] as const))),
    policy: policyOf(readFileSync(join(folder, NOT_FOUND), 'utf8')),
  };
}

/** `guides/python.html` is `guides/python` too, and `api/index.html` is `api/`. */
function addressesOf(name: string): string[] {
  return [name, ...(name.endsWith('.html') ? [name.replace(/(^|(?<=\/))index\.html$|\.html$/, '')] : [])];
}

function pathOf({ params }: FastifyRequest): string {
  return (params as { '*': string })['*'];
}

function answer({ files, policy }: Site, path: string, reply: FastifyReply): FastifyReply {
  const name = files.get(path) ?? files.get(`${path}/`);
  const file = name ?? NOT_FOUND;
  if (file.endsWith('.html')) void reply.header('content-security-policy', policy);
  void reply.header('cache-control', file.startsWith('assets/') ? KEEP_BY_NAME : REVALIDATE);
  return reply.code(name === undefined ? 404 : 200).sendFile(file);
}

function notBuilt(reply: FastifyReply): FastifyReply {
  const headers = { 'retry-after': RETRY_SECONDS, 'content-security-policy': NOTHING_RUNS };
  return reply.code(503).type('text/html; charset=utf-8').headers(headers).send(NOT_BUILT);
}

/** Everything comes from our own origin. Inline scripts, which are the same in every document, are allowed by their hashes. */
function policyOf(html: string): string {
  const scripts = [...html.matchAll(/<script(?![^>]*\ssrc=)[^>]*>([\s\S]+?)<\/script>/g)].map(
    ([, text]) => text!,
  );
  const hashes = scripts.map((text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`);
  return [
    "default-src 'none'",
    ["script-src 'self'", ...hashes].join(' '),
    "style-src 'self'",
    // The colours of code are attributes.
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
}
