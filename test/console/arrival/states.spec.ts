import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Browser, CDPSession } from 'playwright-core';
import { person } from '../../support/console.js';
import { type Relay, startRelay, until } from '../../support/relay.js';
import { openBrowser, Tab } from '../support/browser.js';
import { type RoutedPage, routedPages } from '../support/routes.js';

/** Forms that request nothing before they are sent. */
const READS_NOTHING =
  /^\/(sign-in|sign-up|sign-up\/confirm|confirm-email|forgot-password|reset-password|tickets\/new|admin\/prices\/import)$/;
const OF_VISITORS = /^\/($|sign-|marketplace|connect|status|retention|confirm|forgot|reset)/;
/** What the page itself requests. The session and the stream of changes belong to the frame. */
const OF_THE_PAGE = /\/api\/(?!public\/session|live)/;

const BUSY = 'main :is([aria-busy="true"], .mantine-Skeleton-root)';
const REQUEST_ID = '01hzzzzzzzzzzzzzzzzzzzzzzz';
const FAULT = {
  responseCode: 500,
  responseHeaders: [
    { name: 'content-type', value: 'application/json' },
    { name: 'x-request-id', value: REQUEST_ID },
  ],
  body: Buffer.from(
    JSON.stringify({ error: { code: 'internal_error', message: 'A fault of the test.' } }),
  ).toString('base64'),
};

/**
 * Stands between a page and its requests to the relay. Unlike Playwright's routes, it leaves the browser its script
 * cache.
 */
class Gate {
  private readonly waiting: string[] = [];
  private answer: ((requestId: string) => Promise<void>) | undefined;

  private constructor(
    readonly tab: Tab,
    private readonly session: CDPSession,
  ) {}

  static async before(tab: Tab): Promise<Gate> {
    const session = await tab.context.newCDPSession(tab.page);
    const gate = new Gate(tab, session);
    session.on('Fetch.requestPaused', ({ requestId, request }) => gate.meet(requestId, request.url));
    await session.send('Fetch.enable', { patterns: [{ urlPattern: '*/api/*' }] });
    return gate;
  }

  get isAsked(): boolean {
    return this.waiting.length > 0;
  }

  close(): void {
    this.answer = undefined;
    this.waiting.length = 0;
  }

  async fail(): Promise<void> {
    await this.answerAll((requestId) => this.send('Fetch.fulfillRequest', { requestId, ...FAULT }));
  }

  async open(): Promise<void> {
    await this.answerAll(this.passOn);
  }

  private async answerAll(answer: (requestId: string) => Promise<void>): Promise<void> {
    this.answer = answer;
    await Promise.all(this.waiting.splice(0).map(answer));
  }

  private meet(requestId: string, url: string): void {
    const answer = OF_THE_PAGE.test(url) ? this.answer : this.passOn;
    if (answer) void answer(requestId);
    else this.waiting.push(requestId);
  }

  private readonly passOn = (requestId: string) => this.send('Fetch.continueRequest', { requestId });

  /** A request cannot be answered once its page was left, but then nobody waits for it. */
  private async send(...command: Parameters<CDPSession['send']>): Promise<void> {
    await this.session.send(...command).catch(() => undefined);
  }
}

let relay: Relay;
let browser: Browser;
let visitor: Gate;
let staff: Gate;

beforeAll(async () => {
  [relay, browser] = await Promise.all([startRelay(), openBrowser()]);
  const options = { look: { width: 'narrow' }, expectedStatuses: [404, 500] } as const;
  visitor = await Gate.before(await Tab.open(browser, relay, options));
  const as = await person(relay, { roles: ['admin', 'support', 'finance'] });
  staff = await Gate.before(await Tab.open(browser, relay, { ...options, as }));
});
afterAll(async () => {
  await browser?.close();
  await relay?.close();
});

/** A missing ID is no error here: a model that nobody can have yet has no prices. */
const EMPTY_WITHOUT_ID = /^\/admin\/prices\/models\//;

/** Opens the page while no request is answered, then with errors, then with the real answers. */
async function lookAt(gate: Gate, { path, hasId }: RoutedPage): Promise<void> {
  const { tab } = gate;
  if (READS_NOTHING.test(path)) {
    await gate.open();
    await tab.page.goto(path);
  } else {
    gate.close();
    await tab.page.goto(path);
    await isReading(gate);
    await gate.fail();
    await isFailing(tab);
    await gate.open();
    await comeBack(tab, path);
  }
  await isEmpty(tab, hasId && !EMPTY_WITHOUT_ID.test(path));
  // Leaving the page drops its pending requests.
  await tab.page.goto('about:blank');
}

/** Leaves the page and returns by links, so that it reads again what had failed. */
async function comeBack(tab: Tab, path: string): Promise<void> {
  await tab.follow('/there-is-no-such-page');
  await tab.follow(path);
}

async function isReading(gate: Gate): Promise<void> {
  const { tab } = gate;
  await tab.page.getByRole('heading', { level: 1 }).waitFor();
  await until('the page to ask for something', () => Promise.resolve(gate.isAsked));
  await tab.page.locator(BUSY).first().waitFor();
  expect(await tab.isTooWide()).toBe(false);
}

async function isFailing(tab: Tab): Promise<void> {
  const failure = tab.page.getByRole('main').getByRole('alert').filter({ hasText: REQUEST_ID }).first();
  await failure.getByRole('button', { name: 'Try again' }).waitFor();
  await tab.settled();
  expect(await tab.isTooWide()).toBe(false);
}

/** For a person who has done nothing yet, on a relay where nothing has happened. Anything with an ID does not exist. */
async function isEmpty(tab: Tab, isMissing: boolean): Promise<void> {
  await tab.page.getByRole('heading', { level: 1 }).waitFor();
  await tab.settled();
  const failures = tab.page.getByRole('main').getByText('Something went wrong');
  if (isMissing) await failures.first().waitFor();
  else await expect.poll(() => failures.count()).toBe(0);
  await expect.poll(() => tab.page.locator('tbody:not(:has(tr))').count()).toBe(0);
  expect(await tab.isTooWide()).toBe(false);
}

describe('every page, on a phone', () => {
  it.each(routedPages())(
    'shows that it is loading, that it failed, and that it is empty: $path',
    async (page) => {
      const gate = OF_VISITORS.test(page.path) ? visitor : staff;
      await lookAt(gate, page);
      expect(gate.tab.takeProblems()).toEqual([]);
    },
  );

  it('is listed once, and none is missing', () => {
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
