import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Browser } from 'playwright-core';
import { person } from '../../support/console.js';
import { type Relay, startRelay } from '../../support/relay.js';
import { openBrowser, Tab } from '../support/browser.js';

/** Whether the largest paint so far is of what the server sent, not of what scripts drew. */
const PAINTS = `
  window.largestPaint = null;
  new PerformanceObserver((list) => {
    for (const { element } of list.getEntries())
      window.largestPaint = { isServed: Boolean(element?.closest('#first-paint')) };
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

describe('the landing page', () => {
  it('draws its largest part before it has any script', async () => {
    const tab = await Tab.open(browser, relay, { isFirstVisit: true });
    const { page } = tab;
    const { promise: isDrawn, resolve: letScriptsCome } = Promise.withResolvers<void>();
    await page.route(/\.js$/, (route) => isDrawn.then(() => route.continue()));
    await page.addInitScript({ content: PAINTS });
    await page.goto('/', { waitUntil: 'commit' });
    const largestPaint = () => page.evaluate('window.largestPaint');
    await expect.poll(largestPaint).toEqual({ isServed: true });
    letScriptsCome();
    await tab.settled();
    await page.locator('#first-paint').waitFor({ state: 'detached' });
    expect(await largestPaint()).toEqual({ isServed: true });
    await tab.close();
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
