import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Browser, Page } from 'playwright-core';
import { PasswordHasher } from '#identity/password.hasher.js';
import { type Person, person } from '../support/console.js';
import { type Relay, startRelay, until } from '../support/relay.js';
import { unzip } from '../support/zip.js';
import { openBrowser, Tab } from './support/browser.js';
import { closeTabs, PASSWORD, signInHere } from './support/steps.js';

let relay: Relay;
let browser: Browser;
const tabs: Tab[] = [];

beforeAll(async () => {
  const quick = { PRIVACY_POLL_SECONDS: '0.1', ACCOUNT_DELETION_RETRY_SECONDS: '0.1' };
  [relay, browser] = await Promise.all([startRelay(quick), openBrowser()]);
});
afterAll(async () => {
  await browser?.close();
  await relay?.close();
});
afterEach(() => closeTabs(...tabs.splice(0)));

/** A person with a password and credits, who signs in and is sent on to the page. */
async function atPrivacy(credits: string): Promise<{ someone: Person; tab: Tab }> {
  const someone = await person(relay, { credits });
  await relay.fixture.owner.query('UPDATE users SET password_hash = $2 WHERE id = $1', [
    someone.userId,
    await new PasswordHasher().hash(PASSWORD, someone),
  ]);
  const tab = await Tab.open(browser, relay, { expectedStatuses: [401, 403] });
  tabs.push(tab);
  await tab.goto(`/sign-in?next=${encodeURIComponent('/privacy')}`);
  await signInHere(tab, someone.email);
  await tab.page.getByRole('heading', { name: 'Privacy and data' }).waitFor();
  await tab.settled();
  return { someone, tab };
}

/** As if the last proof of identity were long ago. */
async function lapse(): Promise<void> {
  await relay.fixture.owner.query('UPDATE sessions SET confirmed_at = NULL');
}

async function confirm(page: Page): Promise<void> {
  const asked = page.getByRole('dialog', { name: 'Confirm it’s you' });
  await asked.getByLabel(/^Password/).fill(PASSWORD);
  await asked.getByRole('button', { name: 'Continue' }).click();
  await asked.waitFor({ state: 'detached' });
}

describe('an export of one’s data', () => {
  it('takes the password to request and to save, and is waited for', async () => {
    const { someone, tab } = await atPrivacy('5');
    const { page } = tab;
    await lapse();
    await page.getByRole('button', { name: 'Request an export' }).click();
    const dialog = page.getByRole('dialog', { name: 'Request an export' });
    const send = () => dialog.getByRole('button', { name: 'Request an export' }).click();
    await send();
    await dialog.getByText('Enter your password.').waitFor();
    expect(await tab.barriers()).toEqual([]);
    await dialog.getByLabel(/^Current password/).fill('not the password');
    await send();
    await confirm(page);
    await dialog.getByText('The password is wrong.').waitFor();
    await dialog.getByLabel(/^Current password/).fill(PASSWORD);
    await send();
    await dialog.waitFor({ state: 'detached' });

    const row = page.getByRole('table', { name: 'Export your data' }).getByRole('row', { name: /Ready/ });
    await row.waitFor();
    await lapse();
    const saving = page.waitForEvent('download');
    await row.getByRole('button', { name: 'Download' }).click();
    await confirm(page);
    const download = await saving;
    expect(download.suggestedFilename()).toMatch(/^export-\w+\.zip$/);
    const profile = unzip(await readFile(await download.path())).get('profile.jsonl')!;
    expect(JSON.parse(profile)).toMatchObject({ id: someone.accountId, email: someone.email });
    expect(await tab.barriers()).toEqual([]);
  });
});

describe('the deletion of an account', () => {
  /** Fills in the form, agrees to forfeit the remaining credits, and sends it. */
  async function askToDelete({ page }: Tab): Promise<void> {
    await page.getByRole('button', { name: 'Delete my account' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete your account' });
    await dialog.getByLabel(/^Current password/).fill(PASSWORD);
    await dialog.getByRole('button', { name: 'Delete my account' }).click();
    await dialog.getByText('Request a refund first, or agree to forfeit your credits.').waitFor();
    await dialog.getByText('You have 5 credits').waitFor();
    await dialog.getByLabel('I forfeit all remaining credits').check();
    await dialog.getByRole('button', { name: 'Delete my account' }).click();
  }

  it('ends the session and the keys, and is cancelled by signing in', async () => {
    const { someone, tab } = await atPrivacy('5');
    const { page } = tab;
    const { data: key } = await someone.api.POST('/api/keys', {
      body: { name: 'a key', group: 'Vendora-Main' },
    });
    await lapse();
    await askToDelete(tab);
    await confirm(page);
    await page.waitForURL('**/sign-in');
    const models = await fetch(`${relay.baseUrl}/v1/models`, {
      headers: { authorization: `Bearer ${key!.apiKey}` },
    });
    expect(models.status).toBe(401);

    await signInHere(tab, someone.email);
    await page.getByText(/Sign in now to cancel the deletion and keep it/).waitFor();
    expect(await tab.barriers()).toEqual([]);
    await page.getByRole('button', { name: 'Keep my account and sign in' }).click();
    await page.waitForURL('**/overview');
    await tab.settled();
    await page.locator('data[value="5"]').first().waitFor();
  });

  it('happens once its time has come, and then nobody can sign in', async () => {
    const { someone, tab } = await atPrivacy('5');
    await askToDelete(tab);
    await tab.page.waitForURL('**/sign-in');
    const { owner } = relay.fixture;
    const values = [someone.accountId];
    await owner.query(
      'UPDATE deletion_requests SET due_at = now(), next_try_at = now() WHERE account_id = $1',
      values,
    );
    await until('the deletion to be done', async () => {
      const { rows } = await owner.query<{ state: string }>(
        'SELECT state FROM deletion_requests WHERE account_id = $1',
        values,
      );
      return rows[0]?.state === 'done';
    });
    await signInHere(tab, someone.email);
    await tab.page.getByText('The email address or the password is wrong.').waitFor();
  });
});
