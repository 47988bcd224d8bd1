import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { KEEP_BY_NAME } from './console.pages.js';

const NOT_BUILT =
  'The documentation is not built here. Run `npm run docs -- --build` in a checkout, then load this page again.\n' +
  'The same pages are Markdown files in its folder docs/.\n';

/** Pages are asked for again each time: a 304 is cheap, and a new release shows at once. */
const REVALIDATE = 'no-cache';
const NOT_FOUND = '404.html';

/** The documentation as `npm run docs -- --build` left it, at `/docs`. It is public, and the same for everybody. */
export class DocsPages {
  constructor(private readonly folder: string) {}

  /** Where the build puts it, seen from the built program and from its source. */
  static built(): DocsPages {
    const places = ['../../docs', '../../dist/docs'].map((path) => join(import.meta.dirname, path));
    return new DocsPages(places.find(isSite) ?? places[0]!);
  }

  serve(server: FastifyInstance): void {
    void server.register(async (scope) => {
      await scope.register(fastifyStatic, {
        root: this.folder,
        serve: false,
        preCompressed: true,
        cacheControl: false,
      });
      let site = readSite(this.folder);
      scope.get('/docs', async (request, reply) => {
        // The pages find their place below this address.
        if (!request.url.startsWith('/docs/')) return reply.redirect('/docs/', 308);
        site ??= readSite(this.folder);
        return site ? answer(site, '', reply) : notBuilt(reply);
      });
      scope.get('/docs/*', async (request, reply) => {
        site ??= readSite(this.folder);
        return site ? answer(site, pathOf(request), reply) : notBuilt(reply);
      });
    });
  }
}

interface Site {
  /** The file of each address below /docs/. */
  files: ReadonlyMap<string, string>;
  policy: string;
}

function isSite(folder: string): boolean {
  return existsSync(join(folder, NOT_FOUND));
}

function readSite(folder: string): Site | null {
  if (!isSite(folder)) return null;
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => /\.\w+$/.test(name) && !/(\.(br|gz)|^\..*)$/.test(name));
  return {
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
  return reply.code(503).type('text/plain; charset=utf-8').send(NOT_BUILT);
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
