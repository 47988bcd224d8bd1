import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Browser } from 'playwright-core';
import { person } from '../../support/console.js';
import { type Relay, startRelay } from '../../support/relay.js';
import { openBrowser, Tab } from '../support/browser.js';

/** How often each page is opened, in turns: enough for the machine's other work to even out. */
const FEWEST_ROUNDS = 5;
const MOST_ROUNDS = 60;
const MOST_TIMES_AS_LONG = 1.2;

const PAINTS = `
  window.largestPaintMs = null;
  new PerformanceObserver((list) => {
    for (const { startTime } of list.getEntries()) window.largestPaintMs = startTime;
  }).observe({ type: 'largest-contentful-paint', buffered: true });`;

let relay: Relay;
let browser: Browser;

beforeAll(async () => {
  [relay, browser] = await Promise.all([startRelay(), openBrowser()]);
});
afterAll(async () => {
  await browser?.close();
  await relay?.close();
});

async function landingText(headers: Record<string, string> = {}): Promise<string> {
  return (await fetch(relay.consoleUrl, { headers: { accept: 'text/html', ...headers } })).text();
}

/** The same head with its styles and typeface, as a page without any script. */
async function serveStatically(): Promise<{ url: string; server: Server }> {
  const html = (await landingText())
    .replace(/<script.*?<\/script>/gs, '')
    .replace(/<link data-after-paint[^>]*>/g, '');
  const server = createServer((request, reply) => {
    if (request.url === '/') return reply.setHeader('content-type', 'text/html').end(html);
    const copy = async () => {
      const answer = await fetch(relay.consoleUrl + request.url);
      reply.setHeader('content-type', answer.headers.get('content-type') ?? '');
      reply.end(Buffer.from(await answer.arrayBuffer()));
    };
    return void copy().catch(() => reply.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, server };
}

/** When a browser that was never here before draws the largest part of the page. */
async function largestPaint(url: string, isThere: (tab: Tab) => Promise<unknown>): Promise<number> {
  const tab = await Tab.open(browser, { consoleUrl: new URL(url).origin }, { isFirstVisit: true });
  await tab.page.addInitScript({ content: PAINTS });
  await tab.page.goto(url);
  await isThere(tab);
  const paint = await tab.page.waitForFunction('window.largestPaintMs');
  const ms = (await paint.jsonValue()) as number;
  await tab.close();
  return ms;
}

function median(times: readonly number[]): number {
  return [...times].sort((a, b) => a - b)[Math.floor(times.length / 2)]!;
}

describe('the landing page', () => {
  it('draws its largest part nearly as early as a page without any script', async () => {
    const { url, server } = await serveStatically();
    const times = { landing: [] as number[], static: [] as number[] };
    const ratio = () => median(times.landing) / median(times.static);
    const isOver = () => times.landing.length >= FEWEST_ROUNDS && ratio() < MOST_TIMES_AS_LONG;
    while (!isOver() && times.landing.length < MOST_ROUNDS) {
      times.static.push(await largestPaint(url, ({ page }) => page.locator('#first-paint').waitFor()));
      times.landing.push(await largestPaint(`${relay.consoleUrl}/`, (tab) => tab.settled()));
    }
    server.close();
    server.closeAllConnections();
    expect(ratio()).toBeLessThan(MOST_TIMES_AS_LONG);
  });

  it.each(['wide', 'narrow'] as const)('moves nothing when its scripts take over: %s', async (width) => {
    const tab = await Tab.open(browser, relay, { look: { width } });
    const { page } = tab;
    const title = page.locator('h1');
    const placed = async () => ({ text: await title.textContent(), box: await title.boundingBox() });
    const scripts = /after-paint-.*\.js$/;
    await page.route(scripts, (route) => route.fulfill({ contentType: 'text/javascript', body: '' }));
    await page.goto('/');
    const before = await placed();
    await page.unroute(scripts);
    await tab.goto('/');
    await expect.poll(() => page.locator('#first-paint').count()).toBe(0);
    expect(await placed()).toEqual(before);
    expect(tab.problems()).toEqual([]);
    await tab.close();
  });

  it('comes in the visitor’s language, or in the one that they chose here', async () => {
    const head = async (headers: Record<string, string>) =>
      /id="first-paint"[^>]* lang="([\w-]+)"/.exec(await landingText(headers))?.[1];
    expect(await head({ 'accept-language': 'zh-CN,zh;q=0.9,en;q=0.8' })).toBe('zh-Hans');
    expect(await head({ 'accept-language': 'de, en-GB;q=0.8' })).toBe('en');
    expect(await head({ 'accept-language': 'xx' })).toBe('en');
    const tab = await Tab.open(browser, relay);
    await tab.goto('/');
    await tab.page.getByRole('button', { name: 'Language' }).click();
    await tab.page.getByRole('menuitemradio', { name: '简体中文' }).click();
    await tab.page.locator('html[lang="zh-Hans"]').waitFor();
    const cookies = (await tab.context.cookies()).map(({ name, value }) => `${name}=${value}`);
    await tab.close();
    expect(await head({ 'accept-language': 'en', cookie: cookies.join('; ') })).toBe('zh-Hans');
  });

  it('is not sent to people who are signed in, nor at other addresses', async () => {
    const { headers } = await person(relay);
    expect(await landingText({ cookie: headers.cookie })).not.toContain('first-paint"');
    const other = await fetch(`${relay.consoleUrl}/marketplace`, { headers: { accept: 'text/html' } });
    expect(await other.text()).not.toContain('first-paint"');
  });
});
