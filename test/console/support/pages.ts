import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Browser } from 'playwright-core';
import type { Role } from '#identity/role.js';
import { type Person, person } from '../../support/console.js';
import { type Relay, startRelay } from '../../support/relay.js';
import { type Look, openBrowser, Tab } from './browser.js';

/** A page that an area lists, to be checked in many looks. */
interface ShownPage {
  /** The name of its screenshot. */
  name: string;
  path: string;
  /**
   * Open it by its address instead of a link: for pages that read something only when loaded, or whose data changed
   * unnoticed.
   */
  isLoaded?: boolean;
  /** Creates what the page shows. Returns the path if it contains an ID. */
  prepare?: (relay: Relay, viewer: Person | undefined) => Promise<string | void>;
  /** Opens what is closed at first, such as a drawer, and waits for it. */
  open?: (tab: Tab) => Promise<void>;
}

interface PagesOptions {
  area: string;
  /** Roles of the viewer; null if nobody is signed in. */
  as: readonly Role[] | null;
  credits?: string;
  environment?: Record<string, string>;
  pages: readonly ShownPage[];
}

/**
 * Each language gets both themes, a phone and a desktop, and each width occurs once. Pages are opened in the first look
 * of English. The theme changes only twice, since the whole page is drawn again then. With TOLLGATE_SCREENS=1, all looks
 * are checked, with a screenshot of each.
 */
const FEW: Record<Look['language'], readonly Look[]> = {
  en: [
    { language: 'en', scheme: 'light', width: 'wide' },
    { language: 'en', scheme: 'dark', width: 'phone' },
  ],
  zh: [
    { language: 'zh', scheme: 'dark', width: 'narrow' },
    { language: 'zh', scheme: 'light', width: 'widest' },
  ],
};
const LOOKS = process.env['TOLLGATE_SCREENS'] ? { en: everyLook('en'), zh: everyLook('zh') } : FEW;

function everyLook(language: Look['language']): Look[] {
  const widths = ['phone', 'wide', 'widest'] as const;
  return (['light', 'dark'] as const).flatMap((scheme) =>
    widths.map((width) => ({ language, scheme, width })),
  );
}

/** The previous page's panel may still be closing when this page is there. */
const withoutDialogs = ({ page }: Tab) =>
  page.locator('html:not(:has([role="dialog"]))').waitFor({ state: 'attached' });

const LONGEST_PAGE_MS = 120_000;

/**
 * Checks each page in both languages, both themes and four widths: no error in the browser's console, no missing text,
 * no accessibility barrier, nothing that sticks out sideways, and no text that is cut off, overlaps or was not written
 * for people. Call it in a spec for the area.
 */
export function describePages({ area, as, credits = '0', environment = {}, pages }: PagesOptions): void {
  describe(`the pages of ${area}`, () => {
    let relay: Relay;
    let browser: Browser;
    let viewer: Person | undefined;
    let tab: Tab | undefined;

    beforeAll(async () => {
      [relay, browser] = await Promise.all([startRelay(environment), openBrowser()]);
      if (as) viewer = await person(relay, { roles: as, credits });
    }, LONGEST_PAGE_MS);
    afterAll(async () => {
      await browser?.close();
      await relay?.close();
    });

    /**
     * Opens the page by links as people do, in the one tab of the spec; `states.spec.ts` opens each page by its
     * address.
     */
    const opened = async (shown: ShownPage, path: string) => {
      const look = LOOKS.en[0]!;
      if (tab === undefined) {
        tab = await Tab.open(browser, relay, { ...(viewer ? { as: viewer } : {}), look });
        await tab.goto(path);
        return tab;
      }
      await tab.speak('en');
      await tab.look(look);
      await (shown.isLoaded ? tab.goto(path) : tab.follow(path));
      return tab;
    };

    const seenFrom = async (tab: Tab, name: string, look: Look) => {
      await tab.look(look);
      await tab.shows(look);
      await tab.picture(`${area}/${name}-${look.language}-${look.scheme}-${look.width}`);
      // Accessibility depends on theme and width, but not on the language.
      const barriers = look.language === 'en' ? await tab.barriers() : [];
      const seen = { barriers, isTooWide: await tab.isTooWide(), texts: await tab.textFaults(look) };
      return { look, ...seen, problems: tab.takeProblems() };
    };

    /** The page is opened in English, and changes to the other language where it is. */
    const seenIn = async (shown: ShownPage, path: string) => {
      const page = await opened(shown, path);
      await (shown.open ?? withoutDialogs)(page);
      const seen = [];
      for (const look of LOOKS.en) seen.push(await seenFrom(page, shown.name, look));
      await page.speak('zh');
      for (const look of LOOKS.zh) seen.push(await seenFrom(page, shown.name, look));
      return seen;
    };

    it.each(pages)(
      '$name',
      async (shown) => {
        const path = (await shown.prepare?.(relay, viewer)) ?? shown.path;
        const good = { barriers: [], isTooWide: false, texts: [], problems: [] };
        expect(await seenIn(shown, path)).toEqual(
          [...LOOKS.en, ...LOOKS.zh].map((look) => ({ look, ...good })),
        );
      },
      LONGEST_PAGE_MS,
    );
  });
}
