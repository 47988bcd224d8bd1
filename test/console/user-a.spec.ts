import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import OpenAI from 'openai';
import type { Browser } from 'playwright-core';
import { newId } from '#platform/ids.js';
import { type Person, person } from '../support/console.js';
import { awaitMail, tokenIn } from '../support/mail.js';
import { expectCleanLedger, type Relay, startRelay } from '../support/relay.js';
import { openBrowser, Tab } from './support/browser.js';

// Long journeys on a busy machine: a limit that only a hang reaches.
jest.setTimeout(300_000);

const PASSWORD = 'correct horse battery';

let relay: Relay;
let browser: Browser;
let tabs: Tab[] = [];

beforeAll(async () => {
  [relay, browser] = await Promise.all([startRelay({ SANDBOX_PAYMENTS: 'true' }), openBrowser()]);
}, 120_000);
afterAll(async () => {
  await browser?.close();
  await relay?.close();
});
afterEach(async () => {
  const problems = tabs.flatMap((tab) => tab.problems());
  await Promise.all(tabs.map((tab) => tab.close()));
  tabs = [];
  expect(problems).toEqual([]);
  await expectCleanLedger(relay);
});

async function open(options: { as?: Person; expectedStatuses?: number[] } = {}): Promise<Tab> {
  const tab = await Tab.open(browser, relay, options);
  tabs.push(tab);
  return tab;
}

/** Signs somebody up with a link that they were sent. */
async function signUp(link: string): Promise<Tab> {
  const tab = await open();
  const { page } = tab;
  const email = `${newId()}@example.com`;
  await tab.goto(new URL(link).pathname + new URL(link).search);
  await page.getByLabel('E-mail address').fill(email);
  await page.getByRole('button', { name: 'Send me the link' }).click();
  await page.getByRole('heading', { name: 'Look into your mail' }).waitFor();
  const mail = await awaitMail(relay, email, { subject: /Finish signing up/ });
  await tab.goto(`/sign-up/confirm#token=${tokenIn(mail)}`);
  await page.getByLabel(/^New password/).fill(PASSWORD);
  await page.getByRole('button', { name: 'Open the account' }).click();
  await page.waitForURL('**/overview');
  return tab;
}

/** Orders by the form of the wallet, and pays at the sandbox provider; ends on the page of the order. */
async function topUp({ page }: Tab): Promise<void> {
  await page.getByRole('button', { name: /^Pay USD/ }).click();
  await page.getByRole('heading', { name: 'Sandbox payment' }).waitFor();
  await page.getByRole('button', { name: 'Pay' }).click();
  await page.waitForURL('**/topups/**');
  await page.getByText('Paid: the balance is yours').waitFor();
}

describe('somebody who was invited', () => {
  it('tops up, calls with a key, and the inviter moves the reward', async () => {
    const inviter = await person(relay);
    const theirs = await open({ as: inviter });
    await theirs.goto('/wallet?tab=invites');
    const link = await theirs.page.getByText('/sign-up?invite=').textContent();
    await theirs.page.getByText('Nobody yet').waitFor();

    const tab = await signUp(link!);
    const { page } = tab;
    await page.getByRole('heading', { name: 'Your first call' }).waitFor();
    await page.getByRole('link', { name: 'To the wallet' }).click();
    await page.getByText('USD 20.00', { exact: true }).click();
    await page.getByRole('button', { name: 'Pay USD 26.00' }).waitFor();
    await topUp(tab);
    await page.getByRole('link', { name: 'To the wallet' }).click();
    await page.getByRole('row', { name: /Paid.*USD 20\.00.*USD 26\.00/ }).waitFor();

    await theirs.page.reload();
    await theirs.page.getByRole('row', { name: /Invitee 1.*\+USD 2\.00.*Not yet/ }).waitFor();
    await theirs.page.getByRole('button', { name: 'Everything' }).click();
    await theirs.page.getByRole('button', { name: 'Move to the balance' }).click();
    await theirs.page.getByText('USD 2.00 moved to the balance.').waitFor();
    await theirs.page.getByText('There are no rewards to move yet.').waitFor();
    const { data: account } = await inviter.api.GET('/api/account');
    expect(account!.balance).toMatchObject({ main: '2', invite: '0' });
    await theirs.page.getByRole('tab', { name: 'Statement' }).click();
    await theirs.page.getByRole('row', { name: /Invite balance moved.*\+USD 2\.00.*USD 2\.00/ }).waitFor();

    await page.getByRole('link', { name: 'API keys' }).click();
    const apiKey = await makeKey(tab);
    const sdk = new OpenAI({ apiKey, baseURL: `${relay.baseUrl}/v1`, maxRetries: 0 });
    const { data } = await sdk.images.generate({ model: 'vendora-imagine-image', prompt: 'a gate' });
    expect(data).toHaveLength(1);

    await page.getByRole('button', { name: 'Delete website' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete the key website?' });
    await dialog.getByText('1 request in the last 24 hours').waitFor();
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('website was deleted.').waitFor();
    await page.getByText('No keys yet').waitFor();
    await expect(sdk.models.list()).rejects.toMatchObject({ status: 401 });
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('row', { name: /vendora-imagine-image.*Charged/ }).waitFor();
  });
});

/** Makes a key by the form, and answers it as it is shown this once. */
async function makeKey({ page }: Tab): Promise<string> {
  await page.getByRole('link', { name: 'New key' }).first().click();
  const form = page.getByRole('dialog', { name: 'New key' });
  await form.getByRole('button', { name: 'Create the key' }).click();
  await form.getByText('Give it a name.').waitFor();
  await form.getByLabel('Name').fill('website');
  await form.getByRole('radio', { name: 'Vendora-Main' }).check();
  await form.getByLabel('Limit in a month (UTC)').fill('5');
  await form.getByRole('button', { name: 'Create the key' }).click();
  const once = page.getByRole('dialog', { name: 'The key website' });
  const apiKey = await once.getByText(/^sk-tg-/).textContent();
  const close = once.getByRole('button', { name: 'Close' });
  expect(await close.isDisabled()).toBe(true);
  await page.keyboard.press('Escape');
  await once.getByLabel('I have stored it').check();
  await close.click();
  await once.waitFor({ state: 'detached' });
  expect(await page.getByText(apiKey!).count()).toBe(0);
  return apiKey!;
}

describe('the wallet', () => {
  it('says what is paid and got before anything is ordered, and where an amount is too small', async () => {
    const tab = await open({ as: await person(relay), expectedStatuses: [400] });
    const { page } = tab;
    await tab.goto('/wallet');
    await page.getByText('By payment').click();
    await page.getByLabel('Amount to pay').fill('6.50');
    await page.getByRole('status').getByText('USD 5.00').waitFor();
    await page.getByText('1.3 USD buy 1 USD of balance.').waitFor();
    await page.getByLabel('Amount to pay').fill('1');
    await page.getByText('A top-up buys at least 1 of balance.').waitFor();
    expect(await page.getByRole('button', { name: 'Pay', exact: true }).isDisabled()).toBe(true);
  });

  it('leads from an order that is not wanted to the same again', async () => {
    const buyer = await person(relay);
    const order = { credits: '7', provider: 'sandbox', requestId: newId() } as const;
    const { data } = await buyer.api.POST('/api/topups', { body: order });
    const tab = await open({ as: buyer });
    const { page } = tab;
    await tab.goto(`/topups/${data!.id}`);
    await page.getByText('This order waits for your payment').waitFor();
    await page.getByRole('button', { name: 'Cancel the order' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the order' }).click();
    await page.getByText('This order was cancelled').waitFor();
    await page.getByRole('link', { name: 'Order the same again' }).click();
    await page.getByRole('button', { name: 'Pay USD 9.10' }).waitFor();
    await topUp(tab);
    expect((await buyer.api.GET('/api/account')).data!.balance.main).toBe('7');
  });

  it('filters the statement, and keeps the filters in the address', async () => {
    const buyer = await person(relay, { credits: '3' });
    const tab = await open({ as: buyer });
    const { page } = tab;
    await tab.goto('/wallet?tab=statement');
    await page.getByRole('row', { name: /Top-up.*\+USD 3\.00/ }).waitFor();
    await page.getByRole('combobox', { name: 'What' }).click();
    await page.getByRole('option', { name: 'Invite reward' }).click();
    await page.waitForURL('**kind=invite-reward**');
    await page.getByText('No line fits these filters.').waitFor();
    const csv = page.getByRole('link', { name: 'Download CSV' });
    expect(await csv.getAttribute('href')).toBe('/api/statement.csv?balance=main&kind=invite-reward');
    await page.getByRole('link', { name: 'Take the filters away' }).click();
    await page.getByRole('row', { name: /Top-up.*\+USD 3\.00/ }).waitFor();
  });
});

describe('a key', () => {
  it('is changed, with the words of the server at the field that is at fault', async () => {
    const owner = await person(relay, { credits: '1' });
    const { data: key } = await owner.api.POST('/api/keys', { body: { name: 'old', group: 'Vendora-Main' } });
    const tab = await open({ as: owner, expectedStatuses: [400] });
    const { page } = tab;
    await tab.goto(`/tokens?key=${key!.keyId}`);
    const form = page.getByRole('dialog', { name: 'Change the key' });
    await form.getByLabel('Name').fill('new');
    const addresses = form.getByLabel('IP addresses');
    await addresses.fill('nowhere');
    await addresses.press('Enter');
    await form.getByRole('button', { name: 'Save' }).click();
    await form.getByText('Must be an address or a range such as 192.0.2.0/24').waitFor();
    await addresses.press('Backspace');
    await form.getByLabel('Limit in all').fill('2.5');
    await form.getByRole('button', { name: 'Save' }).click();
    await page.getByText('new was changed.').waitFor();
    const { data } = await owner.api.GET('/api/keys/{keyId}', { params: { path: { keyId: key!.keyId } } });
    expect(data).toMatchObject({ name: 'new', totalLimit: '2.5', allowedIps: null });
  });
});

describe('the overview', () => {
  it('shows tasks as they go on, and what they cost when they end', async () => {
    const customer = await relay.customer('5');
    const owner = await person(relay, { accountId: customer.accountId });
    const tab = await open({ as: owner });
    const { page } = tab;
    await tab.goto('/overview');
    const body = JSON.stringify({ model: 'vendora-imagine-video', prompt: 'a slow boat', seconds: '4' });
    const headers = { 'content-type': 'application/json' };
    expect((await customer.send('/v1/videos', { method: 'POST', headers, body })).status).toBe(200);
    await page.getByRole('row', { name: /vendora-imagine-video.*Charged.*USD 0\.20/ }).waitFor();
    await page.locator('data[value="4.8"]').first().waitFor();
    await page.getByText('a slow boat').waitFor({ state: 'detached' });
  });
});
