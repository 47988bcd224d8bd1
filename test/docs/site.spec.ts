import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Browser } from 'playwright-core';
import { openBrowser, Tab } from '../console/support/browser.js';
import { type Relay, startRelay } from '../support/relay.js';

const root = join(import.meta.dirname, '../..');
const site = join(root, 'dist/docs');
const pages = readdirSync(site, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.html') && name !== '404.html')
  .sort();

function textOf(name: string): string {
  return readFileSync(join(site, name), 'utf8');
}

function addressOf(page: string): string {
  return `/docs/${page.replace(/(^|(?<=\/))index\.html$|\.html$/, '')}`;
}

function attribute(html: string, name: string): string[] {
  const unescaped = (value: string) => value.replaceAll('&amp;', '&').replaceAll('&quot;', '"');
  return [...html.matchAll(new RegExp(`\\s${name}="([^"]*)"`, 'g'))].map(([, value]) => unescaped(value!));
}

/** A page's links within the site, each as an address and a heading. */
function linksOf(page: string): { address: string; anchor: string }[] {
  return attribute(textOf(page), 'href')
    .map((href) => new URL(href, `http://site.test${addressOf(page)}`))
    .filter(({ host, pathname }) => host === 'site.test' && pathname.startsWith('/docs/'))
    .map(({ pathname, hash }) => ({ address: pathname, anchor: decodeURIComponent(hash.slice(1)) }));
}

describe('the built site', () => {
  it('has a page for each text in docs/', () => {
    const texts = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md') && !name.includes('node_modules'))
      .map((name) => name.replace(/\.md$/, '.html'));
    expect(pages).toEqual(texts.sort());
  });

  it('links to every page from its sidebars and pages', () => {
    const linked = new Set(pages.flatMap((page) => linksOf(page).map(({ address }) => address)));
    expect(pages.map(addressOf).filter((address) => !linked.has(address))).toEqual([]);
  });

  it('links only to headings that exist', () => {
    const ids = new Map(pages.map((page) => [addressOf(page), new Set(attribute(textOf(page), 'id'))]));
    const wrong = pages.flatMap((page) =>
      linksOf(page)
        .filter(({ address, anchor }) => anchor !== '' && !ids.get(address)?.has(anchor))
        .map(({ address, anchor }) => `${page}: ${address}#${anchor}`),
    );
    expect(wrong).toEqual([]);
  });

  it('loads nothing from elsewhere', () => {
    const loaded = pages.flatMap((page) => {
      const html = textOf(page);
      const links = [...html.matchAll(/<link[^>]*>/g)].flatMap(([tag]) => attribute(tag, 'href'));
      return [...links, ...attribute(html, 'src')].filter((url) => !/^(\/docs\/|data:)/.test(url));
    });
    expect(loaded).toEqual([]);
  });
});

describe('the site in a browser', () => {
  let relay: Relay;
  let browser: Browser;
  beforeAll(async () => {
    [relay, browser] = await Promise.all([startRelay(), openBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await relay?.close();
  });

  /** One page of each kind: prose, a diagram, a long table, code, an API. */
  const SORTS = ['', 'getting-started', 'concepts', 'configuration', 'errors', 'api/gateway-images'];
  /** The frame of all pages is the same: one page is enough to check it in every theme and width. */
  const IN_ALL_LOOKS = 'getting-started';
  const LOOKS = [
    { scheme: 'light', width: 'wide' },
    { scheme: 'light', width: 'narrow' },
    { scheme: 'dark', width: 'wide' },
    { scheme: 'dark', width: 'narrow' },
  ] as const;
  const looksAt = (path: string) => (path === IN_ALL_LOOKS ? LOOKS : [LOOKS[0], LOOKS[3]]);

  it.each(SORTS)('is readable in both themes, wide and narrow: /docs/%s', async (path) => {
    const tab = await Tab.open(browser, relay);
    await tab.page.goto(`/docs/${path}`);
    await tab.page.locator('h1').first().waitFor();
    for (const look of looksAt(path)) {
      await tab.look(look);
      await tab.page.locator(look.scheme === 'dark' ? 'html.dark' : 'html:not(.dark)').waitFor();
      expect([look, await tab.barriers()]).toEqual([look, []]);
      expect([look, await tab.isTooWide()]).toEqual([look, false]);
      await tab.picture(`docs/${path.replaceAll('/', '-') || 'home'}-${look.scheme}-${look.width}`);
    }
    expect(tab.problems()).toEqual([]);
    await tab.close();
  });

  it('finds a page by its words, and opens it without reloading the site', async () => {
    const tab = await Tab.open(browser, relay);
    const { page } = tab;
    await page.goto('/docs/getting-started');
    await page.getByRole('button', { name: 'Search' }).first().click();
    await page.getByRole('searchbox').fill('insufficient_user_quota');
    await page.getByRole('option').first().click();
    await page.waitForURL(/\/docs\/(errors|api\/)/);
    await page.getByText('insufficient_user_quota').first().waitFor();
    expect(tab.problems()).toEqual([]);
    await tab.close();
  });

  it('is one click away from the console, and the console from it', async () => {
    const tab = await Tab.open(browser, relay);
    await tab.goto('/');
    await tab.page.getByRole('link', { name: 'Documentation' }).first().click();
    await tab.page.getByRole('heading', { level: 1 }).first().waitFor();
    expect(new URL(tab.page.url()).pathname).toBe('/docs/');
    await tab.page.getByRole('link', { name: 'Console' }).first().click();
    await tab.page.waitForURL(`${relay.consoleUrl}/`);
    await tab.settled();
    expect(tab.problems()).toEqual([]);
    await tab.close();
  });
});
