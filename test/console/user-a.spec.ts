import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import OpenAI from 'openai';
import type { Browser } from 'playwright-core';
import { newId } from '#platform/ids.js';
import { person } from '../support/console.js';
import { expectCleanLedger, type Relay, startRelay, until } from '../support/relay.js';
import { openBrowser, Tab } from './support/browser.js';
import { closeTabs, makeKey, topUp } from './support/steps.js';

let relay: Relay;
let browser: Browser;
const tabs: Tab[] = [];

beforeAll(async () => {
  [relay, browser] = await Promise.all([
    startRelay({ SANDBOX_PAYMENTS: 'true', KEY_USE_SECONDS: '0.05' }),
    openBrowser(),
  ]);
});
afterAll(async () => {
  await browser?.close();
  await relay?.close();
});
afterEach(async () => {
  await closeTabs(...tabs.splice(0));
  await expectCleanLedger(relay);
});

async function open(options: Parameters<typeof Tab.open>[2] = {}): Promise<Tab> {
  const tab = await Tab.open(browser, relay, options);
  tabs.push(tab);
  return tab;
}

describe('the wallet', () => {
  it('says what is paid and received before anything is ordered, and if an amount is too small', async () => {
    const tab = await open({ as: await person(relay), expectedStatuses: [400] });
    const { page } = tab;
    await tab.goto('/wallet');
    await page.getByText('Amount', { exact: true }).click();
    await page.getByLabel('Amount to pay').fill('6.50');
    await page.getByRole('status').getByText('5.00 credits').waitFor();
    await page.getByText('1 credit = $1.30, all fees included').waitFor();
    await page.getByLabel('Amount to pay').fill('1');
    await page.getByText('A top-up buys at least 1 credit.').waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Pay', exact: true }).isDisabled()).toBe(true);
  });

  it('orders nothing at a price that is not shown yet', async () => {
    const tab = await open({ as: await person(relay) });
    const { page } = tab;
    const asked = Promise.withResolvers<void>();
    await page.route(/quote\?credits=50$/, async (route) => {
      await asked.promise;
      await route.continue();
    });
    await tab.goto('/wallet');
    const pay = page.getByRole('button', { name: /^Pay \$/ });
    await page.getByRole('button', { name: 'Pay $13.00' }).waitFor();
    await page.getByLabel('Credits to add').fill('50');
    await expect.poll(() => pay.isDisabled()).toBe(true);
    asked.resolve();
    await page.getByRole('button', { name: 'Pay $65.00' }).click({ trial: true });
  });

  it('is paid on a page like an invoice, which needs no script', async () => {
    const buyer = await person(relay);
    const order = { credits: '12.5', provider: 'sandbox', requestId: newId() } as const;
    const { data } = await buyer.api.POST('/api/topups', { body: order });
    const context = await browser.newContext({ baseURL: relay.consoleUrl, javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(`/sandbox-pay/${data!.id}`);
    for (const text of [data!.id, buyer.accountId, data!.createdAt.slice(0, 10), '12.5 credits'])
      await page.getByText(text).waitFor();
    await page.getByText('1 credit = 1.3 USD, all fees included').waitFor();
    await page.getByRole('row', { name: 'Total 16.25 USD' }).waitFor();
    await page.getByRole('button', { name: 'Pay', exact: true }).click();
    await page.waitForURL(`**/topups/${data!.id}`);
    await page.goto(`/sandbox-pay/${data!.id}`);
    await page.getByText('Paid', { exact: true }).waitFor();
    await expect.poll(() => page.getByRole('button').count()).toBe(0);
    await context.close();
  });

  it.each([
    { language: 'en', scheme: 'light', width: 'phone', cancel: 'Cancel' },
    { language: 'zh', scheme: 'dark', width: 'wide', cancel: '取消' },
  ] as const)(
    'has no accessibility barrier on that page: $language, $scheme, $width',
    async ({ cancel, ...look }) => {
      const buyer = await person(relay);
      const order = { credits: '10', provider: 'sandbox', requestId: newId() } as const;
      const { data } = await buyer.api.POST('/api/topups', { body: order });
      const tab = await open({ as: buyer, look });
      await tab.goto(`/sandbox-pay/${data!.id}`);
      await tab.picture(`payment-${look.language}-${look.scheme}-${look.width}`);
      expect(await tab.barriers()).toEqual([]);
      expect(await tab.isTooWide()).toBe(false);
      await tab.page.getByRole('button', { name: cancel }).click();
      await tab.page.getByText(/^(This order was cancelled|订单已取消)$/).waitFor();
    },
  );

  it('leads from an abandoned order to a new one like it', async () => {
    const buyer = await person(relay);
    const order = { credits: '7', provider: 'sandbox', requestId: newId() } as const;
    const { data } = await buyer.api.POST('/api/topups', { body: order });
    const tab = await open({ as: buyer });
    const { page } = tab;
    await tab.goto(`/topups/${data!.id}`);
    await page.getByText('Waiting for your payment').waitFor();
    await page.getByRole('button', { name: 'Cancel the order' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the order' }).click();
    await page.getByText('This order was cancelled').waitFor();
    await page.getByRole('link', { name: 'Order again' }).click();
    await page.getByRole('button', { name: 'Pay $9.10' }).waitFor();
    await topUp(tab);
    expect((await buyer.api.GET('/api/account')).data!.balance.main).toBe('7');
  });

  it('filters the statement, and keeps the filters in the address', async () => {
    const buyer = await person(relay, { credits: '3' });
    const tab = await open({ as: buyer });
    const { page } = tab;
    await tab.goto('/wallet?tab=statement');
    await page.getByRole('row', { name: /Top-up.*\+3\.00 credits/ }).waitFor();
    await page.getByRole('combobox', { name: 'Type' }).click();
    await page.getByRole('option', { name: 'Invite reward' }).click();
    await page.waitForURL('**kind=invite-reward**');
    await page.getByText('No transactions match your filters').waitFor();
    const csv = page.getByRole('link', { name: 'CSV' }).last();
    await expect
      .poll(() => csv.getAttribute('href'))
      .toBe('/api/statement.csv?view=requests&kind=invite-reward');
    await page.getByRole('link', { name: 'Clear filters' }).click();
    await page.getByRole('row', { name: /Top-up.*\+3\.00 credits/ }).waitFor();
    await tab.goto('/wallet?tab=statement&balance=all');
    await page.getByRole('row', { name: /Top-up Receipt \(PDF\) Main balance \+3\.00 credits/ }).waitFor();
  });
});

describe('the first steps', () => {
  it('are dismissed by each person for themselves', async () => {
    const tab = await open({ as: await person(relay) });
    const { page } = tab;
    await tab.goto('/overview');
    const steps = page.getByRole('heading', { name: 'Get started' });
    await steps.waitFor();
    await page.getByRole('button', { name: 'Dismiss' }).click();
    await steps.waitFor({ state: 'detached' });
    await tab.goto('/overview');
    await expect.poll(() => steps.count()).toBe(0);
    await tab.signIn(await person(relay));
    await tab.goto('/overview');
    await steps.waitFor();
  });
});

describe('a key', () => {
  it('is shown once, makes calls, and stops working when deleted', async () => {
    const owner = await person(relay, { credits: '1' });
    const tab = await open({ as: owner });
    const { page } = tab;
    await tab.goto('/tokens');
    const apiKey = await makeKey(tab, 'website');
    const sdk = new OpenAI({ apiKey, baseURL: `${relay.baseUrl}/v1`, maxRetries: 0 });
    const { data } = await sdk.images.generate({ model: 'vendora-imagine-image', prompt: 'a gate' });
    expect(data).toHaveLength(1);

    await until('the use of the key to be written down', async () => {
      const { data: keys } = await owner.api.GET('/api/keys');
      return keys!.items.some(({ name, lastUsedAt }) => name === 'website' && lastUsedAt !== null);
    });
    await page.reload();
    await page.getByRole('button', { name: 'Delete website' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete the key website?' });
    await dialog.getByText('1 request in the last 24 hours').waitFor();
    const confirm = dialog.getByRole('button', { name: 'Delete', exact: true });
    await expect.poll(() => confirm.isDisabled()).toBe(true);
    await dialog.getByLabel('Type website to confirm').fill('website');
    await confirm.click();
    await page.getByText('website was deleted.').waitFor();
    await expect(sdk.models.list()).rejects.toMatchObject({ status: 401 });
    await page.getByRole('link', { name: 'Home', exact: true }).click();
    await page.getByRole('row', { name: /vendora-imagine-image.*Charged/ }).waitFor();
  });

  it('needs only a name, and is tried in the playground at once', async () => {
    const owner = await person(relay, { credits: '1' });
    const tab = await open({ as: owner });
    const { page } = tab;
    await tab.goto('/tokens');
    await tab.follow('/tokens?new=yes');
    const form = page.getByRole('dialog', { name: 'New key' });
    await form.getByText(/^Group Vendora-Main: \d+ models/).waitFor();
    await expect.poll(() => form.getByRole('textbox').count()).toBe(1);
    await form.getByLabel('Name').fill('shop');
    await form.getByRole('button', { name: 'Create the key' }).click();
    const once = page.getByRole('dialog', { name: 'The key shop' });
    await once.waitFor();
    await page.goBack();
    expect(new URL(page.url()).search).toBe('');
    await once.getByLabel('I’ve saved this').check();
    await once.getByRole('link', { name: 'Try it in the playground' }).click();
    await page.waitForURL('**/playground?key=**');
    await expect
      .poll(() => page.getByRole('combobox', { name: 'Key' }).inputValue())
      .toBe('shop · Vendora-Main');
    await page.goBack();
    const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'Try shop' }) });
    await row.hover();
    await row.getByRole('button', { name: 'Actions' }).click();
    await page.getByRole('menuitem', { name: 'Copy ID' }).click();
    await page.getByText('Copied', { exact: true }).waitFor();
    const { data } = await owner.api.GET('/api/keys');
    const { keyId } = data!.items.find(({ name }) => name === 'shop')!;
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(keyId);
  });

  it('shows its groups as cards, with their price and models, and opens the part with an error', async () => {
    const owner = await person(relay, { credits: '1' });
    const tab = await open({ as: owner, expectedStatuses: [400] });
    const { page } = tab;
    await tab.goto('/tokens?new=yes');
    const form = page.getByRole('dialog', { name: 'New key' });
    await form.getByLabel('Name').fill('cheap');
    const advanced = form.getByRole('button', { name: 'Advanced' });
    await advanced.click();
    const card = form.getByRole('radio', { name: 'Public-Relay' });
    await card.getByText(/0\.0002 credits/).waitFor();
    await card.getByText(/imgmodel-lite/).waitFor();
    const details = form.locator(`[id="${await card.getAttribute('aria-describedby')}"]`);
    await expect.poll(() => details.textContent()).toMatch(/0\.0002 credits.*imgmodel-lite/);
    await card.click();
    await form.getByLabel('Monthly spend limit (UTC)').fill('a lot');
    await advanced.click();
    await form.getByText(/^Group Public-Relay:/).waitFor();
    await form.getByRole('button', { name: 'Create the key' }).click();
    await form.getByText('Enter an amount, such as 5 or 0.50.').waitFor();
    expect(await tab.barriers()).toEqual([]);
    const limit = form.getByLabel('Monthly spend limit (UTC)');
    await limit.press('Control+a');
    await page.keyboard.type('12');
    await limit.and(page.locator(':focus')).waitFor();
    await expect.poll(() => limit.inputValue()).toBe('12');
    await form.getByRole('button', { name: 'Create the key' }).click();
    await page.getByRole('dialog', { name: 'The key cheap' }).waitFor();
    const { data } = await owner.api.GET('/api/keys');
    expect(data!.items.find(({ name }) => name === 'cheap')).toMatchObject({
      group: 'Public-Relay',
      monthlyLimit: '12',
    });
  });

  it('is changed, with the server’s message at the field with the error', async () => {
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
    await form.getByLabel('Lifetime spend limit').fill('2.5');
    await form.getByRole('button', { name: 'Save' }).click();
    await page.getByText('new was changed.').waitFor();
    const { data } = await owner.api.GET('/api/keys/{keyId}', { params: { path: { keyId: key!.keyId } } });
    expect(data).toMatchObject({ name: 'new', totalLimit: '2.5', allowedIps: null });
  });

  it('keeps a limit that changed while its form was open', async () => {
    const owner = await person(relay, { credits: '1' });
    const made = { name: 'shared', group: 'Vendora-Main', totalLimit: '9' };
    const { data: key } = await owner.api.POST('/api/keys', { body: made });
    const params = { path: { keyId: key!.keyId } };
    const tab = await open({ as: owner });
    const { page } = tab;
    await page.clock.install();
    await tab.goto(`/tokens?key=${key!.keyId}`);
    const form = page.getByRole('dialog', { name: 'Change the key' });
    await form.getByLabel('Name').fill('renamed');
    await owner.api.PATCH('/api/keys/{keyId}', { params, body: { totalLimit: '2' } });
    // As if people came back to the tab later.
    await page.clock.fastForward('01:00');
    const reread = page.waitForResponse(`**/api/keys/${key!.keyId}`);
    await page.evaluate(`dispatchEvent(new Event('visibilitychange'))`);
    await (await reread).finished();
    await form.getByRole('button', { name: 'Save' }).click();
    await page.getByText('renamed was changed.').waitFor();
    const { data } = await owner.api.GET('/api/keys/{keyId}', { params });
    expect(data).toMatchObject({ name: 'renamed', totalLimit: '2' });
  });
});

describe('the overview', () => {
  it('shows tasks as they progress, and what they cost when they end', async () => {
    const customer = await relay.customer('5');
    const owner = await person(relay, { accountId: customer.accountId });
    const tab = await open({ as: owner });
    const { page } = tab;
    await tab.goto('/overview');
    const body = JSON.stringify({ model: 'vendora-imagine-video', prompt: 'a slow boat', seconds: '4' });
    const headers = { 'content-type': 'application/json' };
    expect((await customer.send('/v1/videos', { method: 'POST', headers, body })).status).toBe(200);
    await page.getByRole('row', { name: /vendora-imagine-video.*Charged.*0\.20 credits/ }).waitFor();
    await page.locator('data[value="4.8"]').first().waitFor();
    await page.getByText('a slow boat').waitFor({ state: 'detached' });
  });
});
