import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Browser } from 'playwright-core';
import type { Role } from '#identity/role.js';
import { type Person, person } from '../../support/console.js';
import { type Relay, startRelay } from '../../support/relay.js';
import { type Look, openBrowser, Tab } from './browser.js';

/** A page as an area lists it, to be looked at from all sides. */
interface ShownPage {
  /** Of the image. */
  name: string;
  path: string;
  /** Opened by its address, for what a page reads only as it is loaded, and for what was made behind its back. */
  isLoaded?: boolean;
  /** Makes what the page shows, and answers the path where that has an id in it. */
  prepare?: (relay: Relay, viewer: Person | undefined) => Promise<string | void>;
  /** Opens what is closed at first, such as a drawer, and waits for it. */
  open?: (tab: Tab) => Promise<void>;
}

interface PagesOptions {
  area: string;
  /** Roles of the viewer; null: nobody is signed in. */
  as: readonly Role[] | null;
  credits?: string;
  environment?: Record<string, string>;
  pages: readonly ShownPage[];
}

/**
 * Looks in which each language has both themes, a phone and a desk, and each width comes once; a language is opened in the
 * first of its two. With TOLLGATE_SCREENS=1, people get an image of every one.
 */
const FEW: Record<Look['language'], readonly Look[]> = {
  en: [
    { language: 'en', scheme: 'light', width: 'wide' },
    { language: 'en', scheme: 'dark', width: 'phone' },
  ],
  zh: [
    { language: 'zh', scheme: 'light', width: 'narrow' },
    { language: 'zh', scheme: 'dark', width: 'widest' },
  ],
};
const LOOKS = process.env['TOLLGATE_SCREENS'] ? { en: everyLook('en'), zh: everyLook('zh') } : FEW;

function everyLook(language: Look['language']): Look[] {
  const widths = ['phone', 'wide', 'widest'] as const;
  return (['light', 'dark'] as const).flatMap((scheme) =>
    widths.map((width) => ({ language, scheme, width })),
  );
}

/** A panel of the page before is still being closed when this one is there. */
const withoutDialogs = ({ page }: Tab) =>
  page.locator('html:not(:has([role="dialog"]))').waitFor({ state: 'attached' });

const LONGEST_PAGE_MS = 120_000;

/**
 * Looks at each page in both languages, both themes and four widths: no error in the browser's console, no missing
 * text, nothing that keeps people out, nothing that sticks out at the side, no text that is cut, covers another or was not
 * written for people. Call it in a spec of the area.
 */
export function describePages({ area, as, credits = '0', environment = {}, pages }: PagesOptions): void {
  describe(`the pages of ${area}`, () => {
    let relay: Relay;
    let browser: Browser;
    let viewer: Person | undefined;
    const tabs = new Map<string, Tab>();

    beforeAll(async () => {
      [relay, browser] = await Promise.all([startRelay(environment), openBrowser()]);
      if (as) viewer = await person(relay, { roles: as, credits });
    }, LONGEST_PAGE_MS);
    afterAll(async () => {
      await browser?.close();
      await relay?.close();
    });

    /** The page in the tab of its language, where people go from page to page; `states.spec.ts` opens each by its address. */
    const opened = async (language: Look['language'], shown: ShownPage, path: string) => {
      const look = LOOKS[language][0]!;
      const before = tabs.get(language);
      if (before) {
        await before.look(look);
        await (shown.isLoaded ? before.goto(path) : before.follow(path));
        return before;
      }
      const tab = await Tab.open(browser, relay, { ...(viewer ? { as: viewer } : {}), look });
      tabs.set(language, tab);
      await tab.goto(path);
      return tab;
    };

    const seenFrom = async (tab: Tab, name: string, look: Look) => {
      await tab.look(look);
      await tab.shows(look);
      await tab.picture(`${area}/${name}-${look.language}-${look.scheme}-${look.width}`);
      // Accessibility depends on the theme and the width, not on the language.
      const barriers = look.language === 'en' ? await tab.barriers() : [];
      const seen = { barriers, isTooWide: await tab.isTooWide(), texts: await tab.textFaults(look) };
      return { look, ...seen, problems: tab.takeProblems() };
    };

    const seenIn = async (language: Look['language'], shown: ShownPage, path: string) => {
      const tab = await opened(language, shown, path);
      await (shown.open ?? withoutDialogs)(tab);
      const seen = [];
      for (const look of LOOKS[language]) seen.push(await seenFrom(tab, shown.name, look));
      return seen;
    };

    it.each(pages)(
      '$name',
      async (shown) => {
        const path = (await shown.prepare?.(relay, viewer)) ?? shown.path;
        const seen = [...(await seenIn('en', shown, path)), ...(await seenIn('zh', shown, path))];
        const good = { barriers: [], isTooWide: false, texts: [], problems: [] };
        expect(seen).toEqual([...LOOKS.en, ...LOOKS.zh].map((look) => ({ look, ...good })));
      },
      LONGEST_PAGE_MS,
    );
  });
}
