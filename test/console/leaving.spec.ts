import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Browser } from 'playwright-core';
import { person } from '../support/console.js';
import { type Relay, startRelay } from '../support/relay.js';
import { openBrowser, Tab } from './support/browser.js';
import { closeTabs } from './support/steps.js';

let relay: Relay;
let browser: Browser;
let tab: Tab;

beforeAll(async () => {
  [relay, browser] = await Promise.all([startRelay(), openBrowser()]);
});
afterAll(async () => {
  await browser?.close();
  await relay?.close();
});
afterEach(() => closeTabs(tab));

async function signOut({ page }: Tab): Promise<void> {
  await page.getByRole('button', { name: 'Your account' }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
}

/** What this tab keeps across pages, by name. */
const KEPT = 'Object.keys(sessionStorage).filter((name) => name.startsWith("tollgate."))';

describe('a tab that is signed out', () => {
  it('keeps no file, no prompt and no result of its person', async () => {
    tab = await Tab.open(browser, relay, { as: await person(relay, { roles: ['finance'], credits: '5' }) });
    const { page } = tab;
    await tab.goto('/finance/exports');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export', exact: true }).click(),
    ]);
    await download.path();
    const file = page.getByRole('link', { name: 'Save again' });
    const address = await file.getAttribute('href');
    await tab.follow('/playground');
    await page.getByLabel('Prompt').fill('a boat at night');
    await page.getByRole('button', { name: 'Generate image' }).click();
    await page.getByRole('img', { name: 'Generated image 1' }).waitFor();
    expect(await page.evaluate(KEPT)).toContain('tollgate.played.image');
    await signOut(tab);
    await expect.poll(() => page.evaluate(KEPT)).toEqual([]);
    const isThere = `fetch(${JSON.stringify(address)}).then(() => true, () => false)`;
    expect(await page.evaluate(isThere)).toBe(false);
    // The browser logs that as an error.
    expect(tab.takeProblems()).toHaveLength(1);
    await tab.signIn(await person(relay, { roles: ['finance'] }));
    await page.evaluate('dispatchEvent(new Event("visibilitychange"))');
    await page.getByRole('button', { name: 'Your account' }).waitFor();
    await tab.follow('/finance/exports');
    await expect.poll(() => file.count()).toBe(0);
  });

  it('does not keep an answer that arrives afterwards', async () => {
    tab = await Tab.open(browser, relay, { as: await person(relay, { credits: '5' }) });
    const { page } = tab;
    const { promise: left, resolve: leave } = Promise.withResolvers<void>();
    await page.route('**/api/playground/v1/images/**', async (route) => {
      const response = await route.fetch();
      await left;
      await route.fulfill({ response });
    });
    await tab.goto('/playground');
    await page.getByLabel('Prompt').fill('a boat at night');
    const asked = page.waitForRequest('**/api/playground/v1/images/**');
    await page.getByRole('button', { name: 'Generate image' }).click();
    const answer = (await asked).response();
    await page.evaluate('sessionStorage.setItem("tollgate.mark", "")');
    await signOut(tab);
    await expect.poll(() => page.evaluate(KEPT)).toEqual([]);
    leave();
    await (await answer)?.finished();
    await tab.settled();
    expect(await page.evaluate(KEPT)).toEqual([]);
  });
});

describe('the advice to set up a second factor', () => {
  it('is put off by each person for themselves', async () => {
    tab = await Tab.open(browser, relay, { as: await person(relay, { roles: ['admin'] }) });
    const { page } = tab;
    const putOff = page.getByRole('button', { name: 'Not now' });
    await tab.goto('/admin/models');
    await putOff.click();
    await putOff.waitFor({ state: 'detached' });
    await page.reload();
    await tab.settled();
    await expect.poll(() => putOff.count()).toBe(0);
    await tab.signIn(await person(relay, { roles: ['admin'] }));
    await page.reload();
    await putOff.waitFor();
  });
});
