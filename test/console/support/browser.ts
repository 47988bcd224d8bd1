import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import axe, { type AxeResults } from 'axe-core';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core';
import type { Person } from '../../support/console.js';
import type { Relay } from '../../support/relay.js';
import { textFaults } from './text-faults.js';

const root = join(import.meta.dirname, '../../..');
/** Screenshots of pages for people to look at, with TOLLGATE_SCREENS=1. They are not part of the repository. */
const SCREENS = join(root, '.cache', 'console-screens');
const HEADLESS = '/usr/bin/chromium-headless-shell';
/** How long to wait for a page on a busy machine. Only a hang takes this long. */
const PATIENCE_MS = 90_000;
/** Of one kind; the others are mostly repetitions. */
const MOST_BARRIERS = 3;

export interface Look {
  language: 'en' | 'zh';
  scheme: 'light' | 'dark';
  width: keyof typeof SIZES;
}

const SIZES = {
  widest: { width: 1440, height: 900 },
  wide: { width: 1280, height: 900 },
  phone: { width: 390, height: 844 },
  narrow: { width: 360, height: 740 },
};
const LOCALES = { en: 'en-GB', zh: 'zh-CN' };
const USUAL: Look = { language: 'en', scheme: 'light', width: 'wide' };

/**
 * The system's Chromium, in its headless build if there is one. The test script installs it; CHROMIUM names another.
 */
export async function openBrowser(): Promise<Browser> {
  const name = process.env['CHROMIUM'] || (existsSync(HEADLESS) ? HEADLESS : 'chromium');
  return chromium.launch({
    executablePath: name.includes('/') ? name : `/usr/bin/${name}`,
    args: [
      // Draws 3D models on machines without a graphics card.
      '--enable-unsafe-swiftshader',
      // The software that stands in for a graphics card draws pages slower than Chromium without one.
      '--disable-gpu-compositing',
      // Chromium's sandbox cannot start as root, as in a container. It opens nothing but the relay under test.
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    ],
  });
}

/** Ends when the page shows what its address says. */
const FOLLOW = `async (path) => {
  __TSR_ROUTER__.history.push(path);
  const hasArrived = ({ status, location, resolvedLocation }) =>
    status === 'idle' && resolvedLocation?.href === location.href;
  do await new Promise(requestAnimationFrame);
  while (!hasArrived(__TSR_ROUTER__.state));
}`;

/** As if the language had been chosen in another tab. */
const SPEAK = `(language) => {
  localStorage.setItem('tollgate.language', language);
  dispatchEvent(new StorageEvent('storage', { key: 'tollgate.language' }));
}`;
/** On every page, so the whole page is in this language once it is. */
const SKIP_LINKS = { en: 'Skip to the content', zh: '跳到正文' };

/** How long a page that is too wide may take to fit. Only one that stays so takes this long. */
const FITTING_MS = 30_000;
const FITS = `async (mostMs) => {
  const { documentElement: page } = document;
  const fits = () => page.scrollWidth <= page.clientWidth;
  const end = performance.now() + mostMs;
  while (!fits() && performance.now() < end) await new Promise(requestAnimationFrame);
  return fits();
}`;

/** Leaves endless animations running. */
const FINISH_ANIMATIONS = `
  for (const animation of document.getAnimations())
    if (animation.effect.getComputedTiming().endTime !== Infinity) animation.finish();`;

interface TabOptions {
  /** Who is signed in; if omitted, nobody. */
  as?: Pick<Person, 'headers'>;
  look?: Partial<Look>;
  /** Error statuses that the test causes on purpose. Browsers log each as an error. */
  expectedStatuses?: readonly number[];
  /** Use a browser that has loaded nothing yet. */
  isFirstVisit?: boolean;
}

/**
 * The contexts of closed tabs, by their options. They have no session any more but still have the console's scripts,
 * like the browser of a returning visitor, so opening a page takes half the processor time.
 */
const leftContexts = new WeakMap<Browser, Map<string, BrowserContext[]>>();

function contextsLeft(browser: Browser, options: BrowserContextOptions): BrowserContext[] {
  const ofBrowser = leftContexts.get(browser) ?? new Map<string, BrowserContext[]>();
  leftContexts.set(browser, ofBrowser);
  const name = JSON.stringify(options);
  const left = ofBrowser.get(name) ?? [];
  ofBrowser.set(name, left);
  return left;
}

/** A tab in a browser of its own. It records everything that goes wrong without being visible. */
export class Tab {
  private readonly faults: string[] = [];

  private constructor(
    readonly page: Page,
    readonly context: BrowserContext,
    private readonly relay: Pick<Relay, 'consoleUrl'>,
    private readonly left: BrowserContext[],
  ) {}

  static async open(
    browser: Browser,
    relay: Pick<Relay, 'consoleUrl'>,
    options: TabOptions = {},
  ): Promise<Tab> {
    const contextOptions = optionsOf({ ...USUAL, ...options.look }, relay.consoleUrl);
    const left = contextsLeft(browser, contextOptions);
    const known = options.isFirstVisit ? undefined : left.pop();
    const context = known ?? (await browser.newContext(contextOptions));
    context.setDefaultTimeout(PATIENCE_MS);
    const page = await context.newPage();
    const tab = new Tab(page, context, relay, left);
    if (known) await tab.forget();
    if (options.as) await tab.signIn(options.as);
    tab.watch(options.expectedStatuses ?? []);
    return tab;
  }

  /** Changes theme and width, for the current page and those opened later. The language stays. */
  async look({ scheme, width }: Pick<Look, 'scheme' | 'width'>): Promise<void> {
    await Promise.all([
      this.page.emulateMedia({ colorScheme: scheme }),
      this.page.setViewportSize(SIZES[width]),
    ]);
  }

  /** Changes the language of the page where it is, and of those opened later. */
  async speak(language: Look['language']): Promise<void> {
    await this.page.evaluate(`(${SPEAK})(${JSON.stringify(language)})`);
    await this.page.locator('.skip-link', { hasText: SKIP_LINKS[language] }).waitFor({ state: 'attached' });
    await this.settled();
  }

  /** Signs in the whole browser: this tab, too, from its next request on. */
  async signIn(as: Pick<Person, 'headers'>): Promise<void> {
    await this.context.addCookies([cookieOf(as, this.relay.consoleUrl)]);
  }

  /** Waits until the page itself is in this theme. */
  async shows({ scheme }: Pick<Look, 'scheme'>): Promise<void> {
    await this.page.locator(`html[data-mantine-color-scheme="${scheme}"]`).waitFor({ state: 'attached' });
    await this.settled();
  }

  /** Opens a page and waits until it is complete. */
  async goto(path: string): Promise<void> {
    await this.page.goto(path);
    await this.settled();
  }

  /** Goes to a page as a link inside the console does, without loading the scripts again. */
  async follow(path: string): Promise<void> {
    await this.page.evaluate(`(${FOLLOW})(${JSON.stringify(path)})`);
    await this.settled();
  }

  /** Waits until the heading is there and nothing is loading. */
  async settled(): Promise<void> {
    await this.page.getByRole('heading', { level: 1 }).waitFor();
    const quiet = 'html:not(:has([aria-busy="true"], .mantine-Skeleton-root))';
    await this.page.locator(quiet).waitFor({ state: 'attached' });
  }

  /** Scrolls down to what loads only when it comes near, and waits for it. */
  async toEnd(): Promise<void> {
    await this.page.evaluate('scrollTo(0, document.body.scrollHeight)');
    await this.page.locator('html:not(:has(.ahead))').waitFor({ state: 'attached' });
    await this.settled();
  }

  /** Console errors, exceptions and requests to other places so far. */
  problems(): readonly string[] {
    return this.faults;
  }

  /** The same, but each problem only once: the next call returns only newer ones. */
  takeProblems(): string[] {
    return this.faults.splice(0);
  }

  /** What axe-core finds serious or critical, one line each. */
  async barriers(): Promise<string[]> {
    // Loaded once per document, since sending it with each check takes longer than the check.
    if (!(await this.page.evaluate<boolean>('"axe" in window'))) await this.page.evaluate(axe.source);
    // During a transition, colours belong to neither theme.
    await this.page.evaluate(FINISH_ANIMATIONS);
    // No rule of those that run reads what axe-core would load before them.
    const violations = await this.page.evaluate<AxeResults['violations']>(
      `axe.run(document, { resultTypes: ['violations'], preload: false }).then(({ violations }) => violations)`,
    );
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .flatMap(({ id, nodes }) =>
        nodes
          .slice(0, MOST_BARRIERS)
          .map(({ html, any }) => `${id}: ${html.slice(0, 160)} (${any[0]?.message ?? ''})`),
      );
  }

  /** Whether people would have to scroll the whole page sideways. A chart takes a moment to follow a new width. */
  async isTooWide(): Promise<boolean> {
    return !(await this.page.evaluate<boolean>(`(${FITS})(${FITTING_MS})`));
  }

  /** Texts that are cut off, overlap, or are not meant for people in this language. */
  async textFaults({ language }: Pick<Look, 'language'>): Promise<string[]> {
    return this.page.evaluate<string[]>(textFaults(language));
  }

  /**
   * A screenshot of the whole page under this name, such as `visitor/landing-en-light-wide`, only with
   * TOLLGATE_SCREENS=1.
   */
  async picture(name: string): Promise<void> {
    if (!process.env['TOLLGATE_SCREENS']) return;
    const path = join(SCREENS, `${name}.png`);
    mkdirSync(dirname(path), { recursive: true });
    await this.page.screenshot({ path, fullPage: true, animations: 'disabled' });
  }

  async close(): Promise<void> {
    await Promise.all(this.context.pages().map((page) => page.close()));
    this.left.push(this.context);
  }

  /** Clears cookies and what scripts have stored, but not the files in the browser's cache. */
  private async forget(): Promise<void> {
    const session = await this.context.newCDPSession(this.page);
    const { origin } = new URL(this.relay.consoleUrl);
    await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' });
    await session.detach();
    await this.context.clearCookies();
  }

  private watch(expectedStatuses: readonly number[]): void {
    const isExpected = (text: string) =>
      expectedStatuses.some((status) => text.includes(`responded with a status of ${status}`));
    this.page.on('console', (message) => {
      const text = message.text();
      if (message.type() === 'error' && !isExpected(text)) this.faults.push(`console: ${text}`);
    });
    this.page.on('pageerror', (error) => this.faults.push(`fault: ${error.message}`));
    this.page.on('request', (request) => {
      const url = request.url();
      const isOwn = url.startsWith(this.relay.consoleUrl) || /^(data|blob):/.test(url);
      if (!isOwn) this.faults.push(`a request to ${url}`);
    });
  }
}

function optionsOf({ width, language, scheme }: Look, baseURL: string): BrowserContextOptions {
  return {
    baseURL,
    viewport: SIZES[width],
    locale: LOCALES[language],
    colorScheme: scheme,
    reducedMotion: 'reduce',
    timezoneId: 'Asia/Shanghai',
    permissions: ['clipboard-read', 'clipboard-write'],
  };
}

function cookieOf({ headers }: Pick<Person, 'headers'>, url: string) {
  const [name = '', value = ''] = headers.cookie.split('=');
  return { name, value, url, httpOnly: true, sameSite: 'Lax' as const };
}
