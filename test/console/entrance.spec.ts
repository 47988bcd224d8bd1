import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Secret, TOTP } from 'otpauth';
import type { Browser } from 'playwright-core';
import { newId } from '#platform/ids.js';
import { person, visitor } from '../support/console.js';
import { awaitMail } from '../support/mail.js';
import { type Relay, startRelay } from '../support/relay.js';
import { openBrowser, Tab } from './support/browser.js';

jest.setTimeout(120_000);

const PASSWORD = 'correct horse battery';

let relay: Relay;
let browser: Browser;
let tab: Tab;

beforeAll(async () => {
  [relay, browser] = await Promise.all([startRelay(), openBrowser()]);
}, 60_000);
afterAll(async () => {
  await browser?.close();
  await relay?.close();
});
afterEach(async () => {
  const problems = tab.problems();
  await tab.close();
  expect(problems).toEqual([]);
});

/** The address in a mail, without where the tests say that the console is. */
function linkIn(text: string): string {
  return /https?:\/\/[^/\s]+(\/\S*#token=\S+)/.exec(text)![1]!;
}

/** Somebody with a password, made without the pages. */
async function signedUp(): Promise<string> {
  const email = `${newId()}@example.com`;
  const api = visitor(relay);
  await api.POST('/api/public/sign-ups', { body: { email } });
  const { text } = await awaitMail(relay, email, { subject: /Finish signing up/ });
  const token = /#token=(\S+)/.exec(text)![1]!;
  await api.POST('/api/public/sign-ups/confirm', { body: { token, password: PASSWORD } });
  return email;
}

describe('signing up', () => {
  it('asks for a link, sets a password behind it and is in, as invitee of whose code the address had', async () => {
    const inviter = await person(relay);
    const { data } = await inviter.api.GET('/api/invites');
    const email = `${newId()}@example.com`;
    tab = await Tab.open(browser, relay);
    const { page } = tab;

    await tab.goto(`/sign-up?invite=${data!.code}`);
    expect(await page.getByLabel('Invite code').inputValue()).toBe(data!.code);
    await page.getByLabel('E-mail address').fill(email);
    await page.getByRole('button', { name: 'Send me the link' }).click();
    await page.getByRole('heading', { name: 'Look into your mail' }).waitFor();

    const { text } = await awaitMail(relay, email, { subject: /Finish signing up/ });
    await tab.goto(linkIn(text));
    expect(page.url()).toBe(`${relay.consoleUrl}/sign-up/confirm`);
    await page.getByLabel(/^New password/).fill('short');
    await page.getByRole('button', { name: 'Open the account' }).click();
    await page.getByText('10 to 200 characters.').nth(1).waitFor();
    await page.getByLabel(/^New password/).fill(PASSWORD);
    await page.getByRole('button', { name: 'Open the account' }).click();
    await page.waitForURL('**/overview');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    const { data: after } = await inviter.api.GET('/api/invites');
    expect(after!.invitees).toHaveLength(1);
  });

  it('shows the words of the server at the field that is at fault', async () => {
    tab = await Tab.open(browser, relay, { expectedStatuses: [400] });
    const { page } = tab;
    await tab.goto('/sign-up');
    await page.getByLabel('E-mail address').fill('somebody@example.com');
    await page.getByLabel('Invite code').fill('nobody-has-this');
    await page.getByRole('button', { name: 'Send me the link' }).click();
    await page.getByText('There is no such invite code.').waitFor();
    const field = page.getByLabel('Invite code');
    expect(await field.getAttribute('aria-invalid')).toBe('true');
    await page.locator('[aria-invalid="true"]:focus').waitFor();
  });
});

describe('signing in', () => {
  it('refuses a wrong password with a request id, then asks for the code of a device, then goes where one wanted to', async () => {
    const email = await signedUp();
    const device = await enrolDevice(email);
    tab = await Tab.open(browser, relay, { expectedStatuses: [401] });
    const { page } = tab;
    await tab.goto('/overview');
    await page.waitForURL('**/sign-in?next=%2Foverview');

    await page.getByLabel('E-mail address').fill(email);
    await page.getByLabel(/^Password/).fill('not the password');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    const alert = page.getByRole('alert');
    await alert.getByText('The e-mail address or the password is wrong.').waitFor();
    expect(await alert.locator('code').textContent()).toMatch(/^[0-9a-z]{26}$/);

    await page.getByLabel(/^Password/).fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByLabel('One-time code').fill(device.generate());
    await page.keyboard.press('Enter');
    await page.waitForURL('**/overview');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
  });

  it('sends whoever has no session any more to sign in, and back to the same page', async () => {
    const email = await signedUp();
    tab = await signIn(email);
    const { page } = tab;
    await page.getByRole('link', { name: 'Connect your code' }).first().click();
    await page.getByRole('heading', { name: 'Connect your code' }).waitFor();
    await revokeSessions(email);
    await page.goto('/overview');
    await page.waitForURL('**/sign-in?**');
    await signInHere(tab, email);
    await page.waitForURL('**/overview');
  });

  it('notices in the middle of a page that the session has ended, and says so', async () => {
    const email = await signedUp();
    tab = await Tab.open(browser, relay, { expectedStatuses: [401] });
    const { page } = tab;
    await tab.goto('/sign-in?next=%2Fconnect');
    await signInHere(tab, email);
    await page.getByRole('heading', { name: 'Connect your code' }).waitFor();
    await revokeSessions(email);
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByText('Your session has ended.').waitFor();
    await signInHere(tab, email);
    await page.waitForURL('**/overview');
    await tab.settled();
  });

  it('signs out, after which nothing of the account is shown', async () => {
    tab = await signIn(await signedUp());
    const { page } = tab;
    await page.getByRole('button', { name: 'Your account' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.waitForURL('**/sign-in');
    await page.getByRole('link', { name: 'Overview' }).waitFor({ state: 'detached' });
    await page.goto('/overview');
    await page.waitForURL('**/sign-in?next=%2Foverview');
  });

  it('sets a new password by the link of a mail', async () => {
    const email = await signedUp();
    tab = await Tab.open(browser, relay);
    const { page } = tab;
    await tab.goto('/sign-in');
    await page.getByRole('link', { name: 'Forgot your password?' }).click();
    await page.getByRole('heading', { name: 'Set a new password' }).waitFor();
    await page.getByLabel('E-mail address').fill(email);
    await page.getByRole('button', { name: 'Send me the link' }).click();
    await page.getByText('is on its way to it').waitFor();
    const { text } = await awaitMail(relay, email, { subject: /Set a new/ });
    await tab.goto(linkIn(text));
    await page.getByLabel(/^New password/).fill('another horse battery');
    await page.getByRole('button', { name: 'Set the password and sign in' }).click();
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

async function signInHere({ page }: Tab, email: string): Promise<void> {
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel(/^Password/).fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

/** Switches codes on by the API, and answers the device. */
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
  // The code of now is spent by this; the next sign-in uses the one after.
  await api.POST('/api/totp/confirm', { body: { code: device.generate() } });
  return { generate: () => device.generate({ timestamp: Date.now() + 30_000 }) } as TOTP;
}
