import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Secret, TOTP } from 'otpauth';
import type { Browser } from 'playwright-core';
import { person, visitor } from '../support/console.js';
import { awaitMail, tokenIn } from '../support/mail.js';
import { type Relay, startRelay } from '../support/relay.js';
import { openBrowser, Tab } from './support/browser.js';
import { closeTabs, PASSWORD, signedUp, signInHere } from './support/steps.js';

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

describe('signing up', () => {
  it('shows the server’s message at the field with the error', async () => {
    tab = await Tab.open(browser, relay, { expectedStatuses: [400] });
    const { page } = tab;
    await tab.goto('/sign-up');
    await page.getByLabel('Email address').fill('somebody@example.com');
    await page.getByLabel('Invite code').fill('nobody-has-this');
    await page.getByRole('button', { name: 'Send link' }).click();
    await page.getByText('This invite code does not exist.').waitFor();
    const field = page.getByLabel('Invite code');
    await expect.poll(() => field.getAttribute('aria-invalid')).toBe('true');
    await page.locator('[aria-invalid="true"]:focus').waitFor();
  });
});

describe('a language chosen in one tab', () => {
  it('changes the other tabs of that browser, and keeps what was typed there', async () => {
    tab = await Tab.open(browser, relay);
    await tab.goto('/sign-in');
    await tab.page.getByLabel('Email address').fill('somebody@example.com');
    const second = await tab.context.newPage();
    await second.goto('/status');
    await second.getByRole('button', { name: 'Language' }).click();
    await second.getByRole('menuitemradio', { name: '简体中文' }).click();
    await tab.page.getByRole('button', { name: '登录', exact: true }).waitFor();
    await expect.poll(() => tab.page.getByLabel('电子邮箱').inputValue()).toBe('somebody@example.com');
  });
});

describe('signing in', () => {
  it('refuses a wrong password with a request ID, asks for the code of a device, then goes where the person was going', async () => {
    const email = await signedUp(relay);
    const device = await enrolDevice(email);
    tab = await Tab.open(browser, relay, { expectedStatuses: [401] });
    const { page } = tab;
    await tab.goto('/overview');
    await page.waitForURL('**/sign-in?next=%2Foverview');

    await page.getByLabel('Email address').fill(email);
    await page.getByLabel(/^Password/).fill('not the password');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    const alert = page.getByRole('alert');
    await alert.getByText('The email address or the password is wrong.').waitFor();
    await expect.poll(() => alert.getByText('Something went wrong').count()).toBe(0);
    await expect.poll(() => alert.locator('code').textContent()).toMatch(/^[0-9a-z]{26}$/);

    await page.getByLabel(/^Password/).fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByLabel('One-time code').fill(device.generate());
    await page.keyboard.press('Enter');
    await page.waitForURL('**/overview');
    await page.getByRole('heading', { name: 'Home', exact: true }).waitFor();
  });

  it('sends a person whose session has ended to sign in, and back to the same page', async () => {
    const email = await signedUp(relay);
    tab = await signIn(email);
    const { page } = tab;
    await page.getByRole('link', { name: 'Developers' }).click();
    await page.getByRole('heading', { name: 'Connect your code' }).waitFor();
    // An open page would notice by itself, which the next test checks.
    await page.goto('about:blank');
    await revokeSessions(email);
    await page.goto('/overview');
    await page.waitForURL('**/sign-in?**');
    await signInHere(tab, email);
    await page.waitForURL('**/overview');
  });

  it('notices in the middle of a page that the session has ended, and says so', async () => {
    const email = await signedUp(relay);
    tab = await Tab.open(browser, relay, { expectedStatuses: [401] });
    const { page } = tab;
    await tab.goto('/sign-in?next=%2Ftokens');
    await signInHere(tab, email);
    await page.getByRole('heading', { name: 'API keys', exact: true }).waitFor();
    // Requests still in progress would notice before the click.
    await tab.settled();
    await revokeSessions(email);
    await page.getByRole('link', { name: 'Home', exact: true }).click();
    await page.getByText('Your session has ended.').waitFor();
    await signInHere(tab, email);
    await page.waitForURL('**/overview');
    await tab.settled();
  });

  it('signs out, and then shows nothing of the account', async () => {
    tab = await signIn(await signedUp(relay));
    const { page } = tab;
    await page.getByRole('button', { name: 'Your account' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.waitForURL('**/sign-in');
    await page.getByRole('link', { name: 'Home', exact: true }).waitFor({ state: 'detached' });
    await page.goto('/overview');
    await page.waitForURL('**/sign-in?next=%2Foverview');
  });

  it('shows nothing of its person once somebody else has signed in in another tab', async () => {
    tab = await Tab.open(browser, relay, { as: await person(relay) });
    const { page } = tab;
    await tab.goto('/connect');
    const code = page.getByRole('region', { name: 'curl' });
    await page.getByRole('button', { name: 'Create a key for your code' }).click();
    await code.getByText('Bearer sk-tg-').waitFor();
    await tab.follow('/tokens');
    await page.getByText('My code').waitFor();
    await page.getByRole('link', { name: 'New key' }).first().click();
    await page.getByRole('dialog', { name: 'New key' }).getByLabel('Name').fill('studio');
    await page.getByRole('button', { name: 'Create the key' }).click();
    // The list behind it shows the beginnings of keys too.
    await page
      .getByRole('dialog')
      .getByText(/^sk-tg-/)
      .waitFor();
    await tab.signIn(await person(relay));
    const second = await tab.context.newPage();
    await second.goto('/tokens');
    await second.getByRole('table', { name: 'API keys' }).waitFor();
    // What browsers report to a tab that people return to.
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`);
    await page.getByText('My code').waitFor({ state: 'detached' });
    // Neither that secret nor the beginning of a key in the list.
    await page
      .getByText(/^sk-tg-/)
      .first()
      .waitFor({ state: 'detached' });
    await tab.follow('/connect');
    await code.getByText('<API_KEY>').waitFor();
  });

  it('sets a new password with the link from a mail', async () => {
    const email = await signedUp(relay);
    tab = await Tab.open(browser, relay);
    const { page } = tab;
    await tab.goto('/sign-in');
    await page.getByRole('link', { name: 'Forgot your password?' }).click();
    await page.getByRole('heading', { name: 'Set a new password' }).waitFor();
    await page.getByLabel('Email address').fill(email);
    await page.getByRole('button', { name: 'Send link' }).click();
    await page.getByText('we sent it a link').waitFor();
    const mail = await awaitMail(relay, email, { subject: /Set a new/ });
    await tab.goto(`/reset-password#token=${tokenIn(mail)}`);
    await page.getByLabel(/^New password/).fill('another horse battery');
    await page.getByRole('button', { name: 'Set password and sign in' }).click();
    await page.waitForURL('**/overview');
  });
});

async function revokeSessions(email: string): Promise<void> {
  await relay.fixture.billing.query(
    `UPDATE sessions SET revoked_at = now() WHERE user_id = (SELECT id FROM users WHERE email = $1)`,
    [email],
  );
}

async function signIn(email: string): Promise<Tab> {
  const opened = await Tab.open(browser, relay);
  await opened.goto('/sign-in');
  await signInHere(opened, email);
  await opened.page.waitForURL('**/overview');
  await opened.settled();
  return opened;
}

/** Turns on one-time codes through the API. Returns the device. */
async function enrolDevice(email: string): Promise<TOTP> {
  const signIn = await fetch(`${relay.consoleUrl}/api/public/sign-in`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password: PASSWORD }),
  });
  const { csrfToken } = (await signIn.json()) as { csrfToken: string };
  const cookie = signIn.headers.get('set-cookie')!.split(';', 1)[0]!;
  const api = visitor(relay, { cookie, 'x-csrf-token': csrfToken });
  const { data } = await api.POST('/api/totp/enrolment', { body: { password: PASSWORD } });
  const device = new TOTP({ secret: Secret.fromBase32(data!.secret) });
  // This uses the current code; the next sign-in uses the one after it.
  await api.POST('/api/totp/confirm', { body: { code: device.generate() } });
  return { generate: () => device.generate({ timestamp: Date.now() + 30_000 }) } as TOTP;
}
