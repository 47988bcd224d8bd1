import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { fastify, type FastifyInstance } from 'fastify';
import { DocsPages } from './docs.pages.js';

let folder: string;
let server: FastifyInstance;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-docs-'));
  server = fastify({ routerOptions: { ignoreTrailingSlash: true } });
  new DocsPages(folder).serve(server);
  server.get('*', () => 'a page of the console');
});
afterEach(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

async function build(): Promise<void> {
  await mkdir(join(folder, 'assets'));
  await mkdir(join(folder, 'api'));
  const page = (text: string) =>
    `<html><script src="/docs/assets/a.js"></script><script id="x">let a = 1;</script>${text}</html>`;
  await writeFile(join(folder, '404.html'), page('not here'));
  await writeFile(join(folder, 'index.html'), page('home'));
  await writeFile(join(folder, 'errors.html'), page('errors'));
  await writeFile(join(folder, 'api/index.html'), page('both APIs'));
  await writeFile(join(folder, 'assets/a.js'), 'let b = 2;');
  await writeFile(join(folder, 'assets/a.js.br'), 'compressed');
  await writeFile(join(folder, '.built-from'), 'a stamp');
}

const get = (url: string, headers: Record<string, string> = {}) =>
  server.inject({ method: 'GET', url, headers });

it('says how to build the site if it is missing, and serves it once it is built', async () => {
  const missing = await get('/docs/errors');
  expect(missing.statusCode).toBe(503);
  expect(missing.headers['content-type']).toBe('text/html; charset=utf-8');
  expect(missing.headers['retry-after']).toBe('5');
  expect(missing.body).toContain('npm run docs -- --build');
  await build();
  expect((await get('/docs/errors')).body).toContain('errors');
});

it('serves the next build as soon as it is ready', async () => {
  await build();
  expect((await get('/docs/errors')).statusCode).toBe(200);
  await rm(folder, { recursive: true });
  expect((await get('/docs/errors')).statusCode).toBe(503);
  await mkdir(folder);
  await build();
  await writeFile(join(folder, 'webhooks.html'), 'events');
  expect((await get('/docs/webhooks')).body).toBe('events');
});

it('serves pages at addresses without an ending, and leaves the others to the console', async () => {
  await build();
  for (const [url, text] of [
    ['/docs/', 'home'],
    ['/docs/errors', 'errors'],
    ['/docs/errors?x=1', 'errors'],
    ['/docs/errors.html', 'errors'],
    ['/docs/api/', 'both APIs'],
    ['/docs/api', 'both APIs'],
    ['/docsy', 'a page of the console'],
    ['/', 'a page of the console'],
  ] as const)
    expect([url, (await get(url)).body]).toEqual([url, expect.stringContaining(text)]);
  const bare = await get('/docs');
  expect([bare.statusCode, bare.headers.location]).toEqual([308, '/docs/']);
});

it('allows in its policy the scripts inside the documents, and nothing else that runs', async () => {
  await build();
  const policy = (await get('/docs/errors')).headers['content-security-policy'] as string;
  // printf 'let a = 1;' | openssl dgst -sha256 -binary | base64
  expect(policy).toContain("script-src 'self' 'sha256-xY6QKfH9PRsQnLz56nj6MBwiK5oHg+im1Jkpdp1x/Ck=';");
  expect(policy).not.toMatch(/script-src[^;]*unsafe/);
});

it('lets files that are named after their content be cached without limit, compressed on request', async () => {
  await build();
  const script = await get('/docs/assets/a.js', { 'accept-encoding': 'br' });
  expect(script.headers['cache-control']).toBe('public, max-age=31536000, immutable');
  expect(script.headers['content-encoding']).toBe('br');
  expect(script.body).toBe('compressed');
  const page = await get('/docs/errors');
  expect(page.headers['cache-control']).toBe('no-cache');
  const again = await get('/docs/errors', { 'if-none-match': page.headers['etag'] as string });
  expect(again.statusCode).toBe(304);
});

it.each([
  '/docs/gone',
  '/docs/.built-from',
  '/docs/..%2f..%2fpackage.json',
  '/docs/assets/a.js.br',
  '/docs/assets',
])('answers 404 as a page: %s', async (url) => {
  await build();
  const answer = await get(url);
  expect(answer.statusCode).toBe(404);
  expect(answer.headers['content-type']).toMatch(/^text\/html/);
  expect(answer.body).toContain('not here');
});
