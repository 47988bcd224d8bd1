import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import type { Role } from '#identity/role.js';
import { type Person, person } from '../../support/console.js';
import { type Relay, startRelay } from '../../support/relay.js';
import { type Look, openBrowser, Tab } from './browser.js';

/** A page as an area lists it, to be looked at from all sides. */
export interface ShownPage {
  /** Of the picture. */
  name: string;
  path: string;
  /** Makes what the page shows, and answers the path where that has an id in it. */
  prepare?: (relay: Relay, viewer: Person | undefined) => Promise<string | void>;
  /** Opens what is closed at first, such as a drawer, and waits for it. */
  open?: (tab: Tab) => Promise<void>;
}

interface PagesOptions {
  area: string;
  /** Roles of whoever looks; null: nobody is signed in. */
  as: readonly Role[] | null;
  credits?: string;
  environment?: Record<string, string>;
  pages: readonly ShownPage[];
}

/** Four looks in which each pair of language, theme and width comes once. */
const LOOKS: readonly Look[] = [
  { language: 'en', scheme: 'light', width: 'wide' },
  { language: 'zh', scheme: 'dark', width: 'wide' },
  { language: 'en', scheme: 'dark', width: 'narrow' },
  { language: 'zh', scheme: 'light', width: 'narrow' },
];

const LONGEST_PAGE_MS = 120_000;

/**
 * Looks at each page in both languages, both themes and on a narrow screen: no error in the browser's console, no missing
 * text, nothing that keeps people out, nothing that sticks out at the side. Call it in a spec of the area.
 */
export function describePages({ area, as, credits = '0', environment = {}, pages }: PagesOptions): void {
  describe(`the pages of ${area}`, () => {
    let relay: Relay;
    let browser: Browser;
    let viewer: Person | undefined;
    const prepared = new Map<string, string>();

    beforeAll(async () => {
      [relay, browser] = await Promise.all([startRelay(environment), openBrowser()]);
      if (as) viewer = await person(relay, { roles: as, credits });
    }, LONGEST_PAGE_MS);
    afterAll(async () => {
      await browser?.close();
      await relay?.close();
    });

    const pathOf = async ({ name, path, prepare }: ShownPage) => {
      const known = prepared.get(name) ?? (await prepare?.(relay, viewer)) ?? path;
      prepared.set(name, known);
      return known;
    };

    for (const shown of pages) {
      it.each(LOOKS)(
        `${shown.name} in $language, $scheme and $width`,
        async (look) => {
          const path = await pathOf(shown);
          const tab = await Tab.open(browser, relay, { ...(viewer ? { as: viewer } : {}), look });
          await tab.goto(path);
          await shown.open?.(tab);
          await tab.settled();
          await tab.picture(`${area}/${shown.name}-${look.language}-${look.scheme}-${look.width}`);
          expect(await tab.barriers()).toEqual([]);
          expect(await tab.isTooWide()).toBe(false);
          expect(tab.problems()).toEqual([]);
          await tab.close();
        },
        LONGEST_PAGE_MS,
      );
    }
  });
}
