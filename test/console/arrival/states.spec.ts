import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Browser, Route } from 'playwright-core';
import { person } from '../../support/console.js';
import { type Relay, startRelay, until } from '../../support/relay.js';
import { openBrowser, Tab } from '../support/browser.js';
import { type RoutedPage, routedPages } from '../support/routes.js';

/** Forms that request nothing before they are sent. */
const READS_NOTHING =
  /^\/(sign-in|sign-up|sign-up\/confirm|confirm-email|forgot-password|reset-password|tickets\/new|admin\/prices\/import)$/;
const OF_VISITORS = /^\/($|sign-|marketplace|connect|status|retention|confirm|forgot|reset)/;
/** The session and the stream of changes belong to the frame. */
const OF_THE_PAGE = /\/api\/(?!public\/session|live)/;

const BUSY = 'main :is([aria-busy="true"], .mantine-Skeleton-root)';
const REQUEST_ID = '01hzzzzzzzzzzzzzzzzzzzzzzz';
const FAULT = {
  status: 500,
  headers: { 'x-request-id': REQUEST_ID },
  json: { error: { code: 'internal_error', message: 'A fault of the test.' } },
};

let relay: Relay;
let browser: Browser;
let visitor: Tab;
let staff: Tab;

beforeAll(async () => {
  [relay, browser] = await Promise.all([startRelay(), openBrowser()]);
  const options = { look: { width: 'narrow' }, expectedStatuses: [404, 500] } as const;
  visitor = await Tab.open(browser, relay, options);
  const as = await person(relay, { roles: ['admin', 'support', 'finance'] });
  staff = await Tab.open(browser, relay, { ...options, as });
});
afterAll(async () => {
  await browser?.close();
  await relay?.close();
});

/** A missing ID is no fault here: a model that nobody can have yet has no prices. */
const EMPTY_WITHOUT_ID = /^\/admin\/prices\/models\//;

/** Opens the page while no request is answered, then with faults, then with the real answers. */
async function lookAt(tab: Tab, { path, hasId }: RoutedPage): Promise<void> {
  let answer: ((route: Route) => Promise<void>) | undefined;
  const asked: Route[] = [];
  await tab.page.route(OF_THE_PAGE, async (route) => {
    // A request of a page that was left cannot be answered, and nobody waits for it.
    if (answer) return answer(route).catch(() => undefined);
    asked.push(route);
  });
  if (READS_NOTHING.test(path)) {
    answer = (route) => route.continue();
    await tab.page.goto(path);
  } else {
    await tab.page.goto(path);
    await isReading(tab, asked);
    answer = (route) => route.fulfill(FAULT);
    await Promise.all(asked.map(answer));
    await isFailing(tab);
    answer = (route) => route.continue();
    await tab.page.reload();
  }
  await isEmpty(tab, hasId && !EMPTY_WITHOUT_ID.test(path));
  // Pending requests are given up with their page.
  await tab.page.goto('about:blank');
  await tab.page.unrouteAll({ behavior: 'ignoreErrors' });
}

async function isReading(tab: Tab, asked: readonly Route[]): Promise<void> {
  await tab.page.getByRole('heading', { level: 1 }).waitFor();
  await until('the page to ask for something', () => Promise.resolve(asked.length > 0));
  await tab.page.locator(BUSY).first().waitFor();
  expect(await tab.isTooWide()).toBe(false);
}

async function isFailing(tab: Tab): Promise<void> {
  const failure = tab.page.getByRole('main').getByRole('alert').filter({ hasText: REQUEST_ID }).first();
  await failure.getByRole('button', { name: 'Try again' }).waitFor();
  await tab.settled();
  expect(await tab.isTooWide()).toBe(false);
}

/** For a person who has done nothing yet, on a relay where nothing happened. What has an ID does not exist. */
async function isEmpty(tab: Tab, isMissing: boolean): Promise<void> {
  await tab.page.getByRole('heading', { level: 1 }).waitFor();
  await tab.settled();
  const failures = tab.page.getByRole('main').getByText('Something went wrong');
  if (isMissing) await failures.first().waitFor();
  else expect(await failures.count()).toBe(0);
  expect(await tab.page.locator('tbody:not(:has(tr))').count()).toBe(0);
  expect(await tab.isTooWide()).toBe(false);
}

describe('every page, on a phone', () => {
  it.each(routedPages())(
    'says so while it is read, where it fails and where nothing is: $path',
    async (page) => {
      const tab = OF_VISITORS.test(page.path) ? visitor : staff;
      await lookAt(tab, page);
      expect(tab.takeProblems()).toEqual([]);
    },
  );

  it('is one of the table, all of which were found', () => {
    const paths = routedPages().map(({ path }) => path);
    expect(new Set(paths).size).toBe(paths.length);
    for (const path of [
      '/',
      '/overview',
      '/finance/books',
      '/support/tickets',
      '/admin/prices',
      '/approvals',
    ])
      expect(paths).toContain(path);
  });
});
