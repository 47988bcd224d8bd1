import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Secret, TOTP } from 'otpauth';
import type { Browser, Page } from 'playwright-core';
import { type Relay, startRelay } from '../support/relay.js';
import { openBrowser, Tab } from './support/browser.js';
import { closeTabs, PASSWORD, putAway, signedUp, signInHere } from './support/steps.js';

let relay: Relay;
let browser: Browser;
const tabs: Tab[] = [];

beforeAll(async () => {
  [relay, browser] = await Promise.all([startRelay({ SECOND_FACTOR: 'required' }), openBrowser()]);
});
afterAll(async () => {
  await browser?.close();
  await relay?.close();
});
afterEach(() => closeTabs(...tabs.splice(0)));

async function signedIn(email: string, path: string): Promise<Tab> {
  const tab = await Tab.open(browser, relay, { expectedStatuses: [403, 400] });
  tabs.push(tab);
  await tab.goto(`/sign-in?next=${encodeURIComponent(path)}`);
  await signInHere(tab, email);
  await tab.page.waitForURL(`**${path}`);
  await tab.settled();
  return tab;
}

/** As if the last proof of identity were long ago. */
async function lapse(): Promise<void> {
  await relay.fixture.owner.query('UPDATE sessions SET confirmed_at = NULL');
}

async function asksAnotherAddress(page: Page, address: string): Promise<void> {
  await page.getByRole('button', { name: 'Change email address' }).click();
  const dialog = page.getByRole('dialog', { name: 'Change email address' });
  await dialog.getByLabel(/^New email address/).fill(address);
  await dialog.getByLabel(/^Current password/).fill(PASSWORD);
  await dialog.getByRole('button', { name: 'Send link' }).click();
}

describe('an action that needs proof of identity', () => {
  it('asks people without a device for the password, then continues', async () => {
    const tab = await signedIn(await signedUp(relay), '/account');
    const { page } = tab;
    await lapse();
    await asksAnotherAddress(page, 'next@example.com');
    const asked = page.getByRole('dialog', { name: 'Confirm it’s you' });
    await asked.getByLabel(/^Password/).fill('not the password');
    await asked.getByRole('button', { name: 'Continue' }).click();
    await asked.getByText('The password is wrong.').waitFor();
    expect(await tab.barriers()).toEqual([]);
    await asked.getByLabel(/^Password/).fill(PASSWORD);
    await asked.getByRole('button', { name: 'Continue' }).click();
    await page.getByText(/We sent a link to next@example.com/).waitFor();
  });

  it('asks for a code once a device is set up', async () => {
    const { page } = await signedIn(await signedUp(relay), '/account');
    await page.getByRole('button', { name: 'Set up two-factor authentication' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(/^Current password/).fill(PASSWORD);
    await dialog.getByRole('button', { name: 'Continue' }).click();
    const secret = await dialog.getByText(/^[A-Z2-7]{32}$/).textContent();
    const device = new TOTP({ secret: Secret.fromBase32(secret!) });
    await dialog.getByLabel('Code from the app').fill(device.generate());
    await dialog.getByRole('button', { name: 'Turn on two-factor authentication' }).click();
    await page.getByRole('region', { name: 'Recovery codes' }).waitFor();
    await putAway(dialog);
    await dialog.waitFor({ state: 'detached' });
    await lapse();
    await asksAnotherAddress(page, 'fourth@example.com');
    const asked = page.getByRole('dialog', { name: 'Confirm it’s you' });
    await asked.getByLabel(/^Code/).waitFor();
  });

  it('says that the connection broke if it did after the confirmation', async () => {
    const tab = await signedIn(await signedUp(relay), '/account');
    const { page } = tab;
    await lapse();
    await asksAnotherAddress(page, 'broken@example.com');
    const asked = page.getByRole('dialog', { name: 'Confirm it’s you' });
    await asked.getByLabel(/^Password/).fill(PASSWORD);
    await page.route('**/api/email-changes', (route) => route.abort());
    await asked.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('The relay could not be reached.').waitFor();
    // The browser logs that, too.
    expect(tab.takeProblems()).toHaveLength(1);
  });

  it('does not happen if nobody confirms it', async () => {
    const { page } = await signedIn(await signedUp(relay), '/account');
    await lapse();
    await asksAnotherAddress(page, 'other@example.com');
    const asked = page.getByRole('dialog', { name: 'Confirm it’s you' });
    await asked.getByRole('button', { name: 'Close' }).click();
    await page.getByText('You didn’t confirm that it’s you, so nothing was changed.').waitFor();
  });
});

describe('staff', () => {
  it('are sent to set up a second factor at once, and confirm with its codes', async () => {
    const email = await signedUp(relay);
    await relay.fixture.owner.query(`UPDATE users SET roles = '{user,admin}' WHERE email = $1`, [email]);
    const tab = await signedIn(email, '/account');
    const { page } = tab;
    await page.getByRole('heading', { name: 'Set up two-factor authentication' }).waitFor();
    await expect.poll(() => page.getByRole('link', { name: 'Home', exact: true }).count()).toBe(0);
    await page.getByLabel(/^Current password/).fill(PASSWORD);
    await page.getByRole('button', { name: 'Continue' }).click();
    const secret = await page.getByText(/^[A-Z2-7]{32}$/).textContent();
    const device = new TOTP({ secret: Secret.fromBase32(secret!) });
    expect(await tab.barriers()).toEqual([]);
    await page.getByLabel('Code from the app').fill(device.generate());
    await page.getByRole('button', { name: 'Turn on two-factor authentication' }).click();
    await page.getByRole('region', { name: 'Recovery codes' }).waitFor();
    // As when they come back from where they save the codes.
    const read = page.waitForResponse('**/api/public/session');
    await page.evaluate('dispatchEvent(new Event("visibilitychange"))');
    await (await read).finished();
    await page.getByLabel('I’ve saved this').check();
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('heading', { name: 'Account and sessions' }).waitFor();
    await page.getByText('10 recovery codes are left.').waitFor();

    await lapse();
    await asksAnotherAddress(page, 'third@example.com');
    const asked = page.getByRole('dialog', { name: 'Confirm it’s you' });
    await asked.getByLabel(/^Code/).fill('000000');
    await asked.getByRole('button', { name: 'Continue' }).click();
    await asked.getByText('The code is wrong, expired or already used.').waitFor();
    await asked.getByLabel(/^Code/).fill(device.generate({ timestamp: Date.now() + 30_000 }));
    await asked.getByRole('button', { name: 'Continue' }).click();
    await page.getByText(/We sent a link to third@example.com/).waitFor();
  });
});
