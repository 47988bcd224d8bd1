import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Secret, TOTP } from 'otpauth';
import type { Browser, Page } from 'playwright-core';
import { newId } from '#platform/ids.js';
import { person } from '../support/console.js';
import { awaitMail, tokenIn } from '../support/mail.js';
import { json, type Relay, startRelay, until } from '../support/relay.js';
import { openBrowser, Tab } from './support/browser.js';
import { closeTabs, PASSWORD, putAway, signedUp, signInHere } from './support/steps.js';

let relay: Relay;
let browser: Browser;
const tabs: Tab[] = [];

beforeAll(async () => {
  [relay, browser] = await Promise.all([startRelay({ LIVE_POLL_SECONDS: '0.05' }), openBrowser()]);
});
afterAll(async () => {
  await browser?.close();
  await relay?.close();
});
afterEach(() => closeTabs(...tabs.splice(0)));

async function open(options: Parameters<typeof Tab.open>[2] = {}): Promise<Tab> {
  const tab = await Tab.open(browser, relay, options);
  tabs.push(tab);
  return tab;
}

/** A separate browser in which a person signs in and is sent on to the page. */
async function signIn(email: string, path: string, expectedStatuses: number[] = []): Promise<Tab> {
  const tab = await open({ expectedStatuses });
  await tab.goto(`/sign-in?next=${encodeURIComponent(path)}`);
  await signInHere(tab, email);
  await tab.page.waitForURL(`**${path}`);
  await tab.settled();
  return tab;
}

describe('sessions', () => {
  it('are listed, and one that is ended here goes to sign-in there at once, and back after signing in', async () => {
    const email = await signedUp(relay);
    const there = await signIn(email, '/overview', [401]);
    const here = await signIn(email, '/account');
    const list = here.page.getByRole('table', { name: 'Active sessions' });
    const mine = list.getByRole('row', { name: /This browser/ });
    await mine.waitFor();
    await expect.poll(() => mine.getByRole('button').count()).toBe(0);
    await list.getByRole('button', { name: 'Sign out' }).first().click();
    const dialog = here.page.getByRole('dialog', { name: 'Sign out this session?' });
    await dialog.getByText(/have to sign in again/).waitFor();
    await dialog.getByRole('button', { name: 'Sign out' }).click();

    // Nobody touches the other page: its live connection reports this.
    await there.page.getByText('Your session has ended.').waitFor();
    await signInHere(there, email);
    await there.page.waitForURL('**/overview');
    await there.settled();
  });

  it('end everywhere else when the password changes, which needs the old one', async () => {
    const email = await signedUp(relay);
    const there = await signIn(email, '/overview', [401]);
    const { page } = await signIn(email, '/account', [403]);
    await page.getByLabel(/^Current password/).fill('not the password');
    await page.getByLabel(/^New password/).fill('another horse battery');
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('The password is wrong.').waitFor();
    await page.locator('[aria-invalid="true"]:focus').waitFor();
    await page.getByLabel(/^Current password/).fill(PASSWORD);
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('Password changed. All other sessions were signed out.').waitFor();

    await there.page.getByText('Your session has ended.').waitFor();
    await signInHere(there, email);
    await there.page.getByText('The email address or the password is wrong.').waitFor();
    await signInHere(there, email, 'another horse battery');
    await there.page.waitForURL('**/overview');
  });
});

describe('one-time codes', () => {
  it('are set up with a device, asked for at sign-in, replaced by a recovery code, and switched off', async () => {
    const email = await signedUp(relay);
    const first = await signIn(email, '/account');
    const device = await enrol(first.page);
    const [recoveryCode = ''] = await recoveryCodes(first.page, () =>
      first.page.getByLabel('Code from the app').fill(device.generate()),
    );
    await first.page.getByText('10 recovery codes are left.').waitFor();

    const second = await open({ expectedStatuses: [401] });
    await second.goto('/sign-in?next=%2Faccount');
    await signInHere(second, email);
    // Setting up the device used the current code.
    const next = device.generate({ timestamp: Date.now() + 30_000 });
    await second.page.getByLabel('One-time code').fill(next);
    await second.page.keyboard.press('Enter');
    await second.page.getByRole('heading', { name: 'Account and sessions' }).waitFor();

    const third = await open({ expectedStatuses: [401] });
    await third.goto('/sign-in?next=%2Faccount');
    await signInHere(third, email);
    await third.page.getByLabel('One-time code').fill(recoveryCode);
    await third.page.keyboard.press('Enter');
    await third.page.getByText('9 recovery codes are left.').waitFor();

    await third.page.getByRole('button', { name: 'Turn off' }).click();
    const dialog = third.page.getByRole('dialog', { name: 'Turn off two-factor authentication' });
    await dialog.getByLabel(/^Current password/).fill(PASSWORD);
    await dialog.getByRole('button', { name: 'Turn off' }).click();
    await third.page.getByText('Two-factor authentication is off.').waitFor();
    await signIn(email, '/account');
  });
});

/** Continues up to the prompt for a code. Takes the secret as shown to people who cannot scan it. */
async function enrol(page: Page): Promise<TOTP> {
  await page.getByRole('button', { name: 'Set up two-factor authentication' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel(/^Current password/).fill(PASSWORD);
  await dialog.getByRole('button', { name: 'Continue' }).click();
  await dialog.getByRole('img', { name: 'QR code for an authenticator app' }).waitFor();
  const secret = await dialog.getByText(/^[A-Z2-7]{32}$/).textContent();
  return new TOTP({ secret: Secret.fromBase32(secret!) });
}

async function recoveryCodes(page: Page, confirm: () => Promise<void>): Promise<string[]> {
  await confirm();
  await page.getByRole('button', { name: 'Turn on two-factor authentication' }).click();
  const codes = page.getByRole('region', { name: 'Recovery codes' });
  const text = await codes.textContent();
  await putAway(page.getByRole('dialog', { name: 'Your recovery codes' }));
  return text!.split('\n');
}

describe('another e-mail address', () => {
  it('takes the password to request, and signs people in once they followed the link in its mail', async () => {
    const email = await signedUp(relay);
    const next = `${newId()}@example.com`;
    const tab = await signIn(email, '/account', [403]);
    const { page } = tab;
    await page.getByRole('button', { name: 'Change email address' }).click();
    const dialog = page.getByRole('dialog', { name: 'Change email address' });
    await dialog.getByLabel('New email address').fill(next);
    await dialog.getByLabel(/^Current password/).fill('not the password');
    await dialog.getByRole('button', { name: 'Send link' }).click();
    await dialog.getByText('The password is wrong.').waitFor();
    await dialog.getByLabel(/^Current password/).fill(PASSWORD);
    await dialog.getByRole('button', { name: 'Send link' }).click();
    await dialog.getByText(`We sent a link to ${next}.`).waitFor();
    const mail = await awaitMail(relay, next, { subject: /Confirm your new email address/ });
    await tab.goto(`/confirm-email#token=${tokenIn(mail)}`);
    await page.getByRole('button', { name: 'Use this address' }).click();
    await page.getByText(`You now sign in with ${next}.`).waitFor();
    await page.getByRole('link', { name: 'Go to your account' }).click();
    await page.getByRole('heading', { name: 'Account and sessions' }).waitFor();
    await expect.poll(() => page.getByLabel('Email address').inputValue()).toBe(next);
    await signIn(next, '/overview');
  });
});

describe('mail', () => {
  it('is in the language that the console is read in, and changes along with it', async () => {
    const email = await signedUp(relay);
    const languageIs = (wanted: string) =>
      until(`mail in ${wanted}`, async () => {
        const { rows } = await relay.fixture.owner.query('SELECT language FROM users WHERE email = $1', [
          email,
        ]);
        return rows[0].language === wanted;
      });
    const tab = await signIn(email, '/account');
    await languageIs('en');
    await tab.page.getByRole('button', { name: 'Language' }).click();
    await tab.page.getByRole('menuitemradio', { name: '简体中文' }).click();
    await tab.page.getByRole('heading', { name: '账户与会话' }).waitFor();
    await languageIs('zh');
  });
});

describe('refusals', () => {
  it('are shown in the language of the page, with the server’s sentence if that says more', async () => {
    const tab = await open({ look: { language: 'zh' }, expectedStatuses: [400, 401, 503] });
    const { page } = tab;
    await tab.goto('/sign-in');
    await page.getByLabel('电子邮箱').fill('nobody@example.com');
    await page.getByLabel(/^密码/).fill(PASSWORD);
    await page.keyboard.press('Enter');
    const alert = page.getByRole('alert');
    await alert.getByText('电子邮箱或密码不正确。').waitFor();
    await expect.poll(() => alert.textContent()).not.toContain('password');

    await tab.goto('/sign-up?invite=nobody-has-this');
    await page.getByLabel('电子邮箱').fill('nobody@example.com');
    await page.keyboard.press('Enter');
    await page.getByText('此项未被接受：').waitFor();
    await page.locator('[lang="en"]').getByText('This invite code does not exist.').waitFor();

    await tab.signIn(await person(relay));
    await tab.goto('/overview');
    await page.route('**/api/sign-out', (route) =>
      route.fulfill({ status: 503, json: { error: { code: 'service_unavailable', message: 'Away.' } } }),
    );
    await page.getByRole('button', { name: '您的账户' }).click();
    await page.getByRole('menuitem', { name: '退出登录' }).click();
    await page.getByText('服务暂时无法响应').waitFor();
  });
});

describe('live updates', () => {
  it('resume after a stream that ended and one that was refused, and show the newer balance', async () => {
    const customer = await relay.customer('5');
    const owner = await person(relay, { accountId: customer.accountId });
    const tab = await open({ as: owner, expectedStatuses: [503] });
    const { page } = tab;
    let streams = 0;
    await page.route('**/api/live', async (route) => {
      streams += 1;
      if (streams > 2) return route.continue();
      if (streams === 2) return route.fulfill({ status: 503, body: '{}' });
      const newer = { main: '7.5', held: '0', invite: '0' };
      const body = `retry: 10\nevent: balance\ndata: ${JSON.stringify(newer)}\n\n`;
      return route.fulfill({ contentType: 'text/event-stream', body });
    });
    await tab.goto('/overview');
    await until('the page to listen again', () => Promise.resolve(streams > 2));
    await page.locator('data[value="5"]').first().waitFor();
    await customer.send(
      '/v1/images/generations',
      json({ model: 'vendora-imagine-image', prompt: 'a gate [[instant]]' }),
    );
    await page.locator('data[value="4.98"]').first().waitFor();
  });
});

describe('a list', () => {
  it('shows its outline while loading, the request ID if that fails, and the rows after another try', async () => {
    const someone = await person(relay);
    const tab = await open({ as: someone, expectedStatuses: [500] });
    const { page } = tab;
    let answer = (): void => undefined;
    const mayAnswer = new Promise<void>((resolve) => (answer = resolve));
    const requestId = newId();
    await page.route('**/api/tickets?**', async (route) => {
      await mayAnswer;
      const error = { code: 'internal_error', message: 'x', param: null };
      await route.fulfill({ status: 500, headers: { 'x-request-id': requestId }, json: { error } });
    });
    await page.goto('/tickets');
    await page.locator('table[aria-busy="true"] .mantine-Skeleton-root').first().waitFor();
    answer();
    const alert = page.getByRole('alert');
    await alert.getByText('Something broke on our side.').waitFor();
    await expect.poll(() => alert.locator('code').textContent()).toBe(requestId);
    await page.unroute('**/api/tickets?**');
    await alert.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('No tickets yet').waitFor();
  });

  it('says of what is newer than its clock that it happened just now', async () => {
    const someone = await person(relay);
    const body = { kind: 'question', subject: 'A gate', body: 'How high is it?' } as const;
    await someone.api.POST('/api/tickets', { body });
    const { page } = await open({ as: someone });
    await page.clock.install({ time: Date.now() - 40_000 });
    await page.goto('/tickets');
    await page.getByRole('row', { name: /A gate.*just now/ }).waitFor();
  });

  it('goes page by page, with the page in the address, and back with the browser', async () => {
    const someone = await person(relay);
    await relay.fixture.billing.query(
      `INSERT INTO tickets (id, account_id, opened_by, kind, subject)
       SELECT lpad(n::text, 26, '0'), $1, $2, 'question', 'Question ' || n FROM generate_series(1, 30) AS n`,
      [someone.accountId, someone.userId],
    );
    const tab = await open({ as: someone });
    const { page } = tab;
    await tab.goto('/tickets');
    const row = (number: number) => page.getByRole('row', { name: new RegExp(`Question ${number}\\b`) });
    await row(30).waitFor();
    await row(6).waitFor();
    await expect.poll(() => row(5).count()).toBe(0);
    await page.getByRole('button', { name: 'Next page' }).click();
    await row(5).waitFor();
    await row(1).waitFor();
    await expect.poll(() => row(6).count()).toBe(0);
    await expect.poll(() => page.getByRole('button', { name: 'Next page' }).isDisabled()).toBe(true);
    const address = page.url();
    expect(address).toContain('cursor=');
    await page.goBack();
    await row(30).waitFor();
    await tab.goto(address);
    await row(1).waitFor();
    await page.getByRole('button', { name: 'First page' }).click();
    await row(30).waitFor();
    expect(page.url()).not.toContain('cursor=');
  });
});
