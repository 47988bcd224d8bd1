import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { Browser, Page } from 'playwright-core';
import { type Person, person } from '../support/console.js';
import { addModel } from '../support/models.js';
import { json, type Relay, startRelay } from '../support/relay.js';
import { openBrowser, Tab } from './support/browser.js';
import { closeTabs } from './support/steps.js';

let relay: Relay;
let browser: Browser;
let tab: Tab;
let owner: Person;
let requestId: string;

beforeAll(async () => {
  [relay, browser] = await Promise.all([startRelay(), openBrowser()]);
  await addModel(relay.fixture.owner, {
    id: 'dead-image',
    like: 'imgmodel-4',
    times: 1,
    channel: 'dead',
    protocol: 'openai-xai',
    baseUrl: 'http://127.0.0.1:9',
  });
  const customer = await relay.customer('1');
  owner = await person(relay, { accountId: customer.accountId });
  const body = { model: 'dead-image', models: ['imgmodel-4'], prompt: 'a boat [[instant]]' };
  const answer = await customer.send('/v1/images/generations', json(body));
  expect(answer.status).toBe(200);
  requestId = answer.headers.get('x-request-id')!;
});
afterAll(async () => {
  await browser?.close();
  await relay?.close();
});
afterEach(() => closeTabs(tab));

async function open(path: string): Promise<Page> {
  tab = await Tab.open(browser, relay, { as: owner });
  await tab.goto(path);
  return tab.page;
}

async function search(page: Page, words: string): Promise<void> {
  await page.keyboard.press('Control+k');
  const field = page.getByRole('textbox', { name: 'Search pages, or paste any ID' });
  await field.fill(words);
  await field.press('Enter');
}

it('opens a page by part of its name', async () => {
  const page = await open('/overview');
  await search(page, 'bill');
  await page.getByRole('heading', { name: 'Billing', level: 1 }).waitFor();
});

it('has its navigation behind a button on a narrow screen, until a page is chosen', async () => {
  tab = await Tab.open(browser, relay, { as: owner, look: { width: 'narrow' } });
  const { page } = tab;
  await tab.goto('/overview');
  const billing = page.getByRole('navigation').getByRole('link', { name: 'Billing' });
  await expect.poll(() => billing.isVisible()).toBe(false);
  await page.getByRole('button', { name: 'Open navigation' }).click();
  await billing.click();
  await page.getByRole('heading', { name: 'Billing', level: 1 }).waitFor();
  await billing.waitFor({ state: 'hidden' });
  expect(await tab.isTooWide()).toBe(false);
});

it('returns to the button that opened it', async () => {
  const page = await open('/overview');
  const button = page.getByRole('button', { name: 'Search', exact: true });
  await button.click();
  await page.getByRole('dialog').and(page.locator(':focus-within')).waitFor();
  await page.keyboard.press('Escape');
  await button.and(page.locator(':focus')).waitFor();
});

it('says so if no page has that name', async () => {
  const page = await open('/overview');
  await search(page, 'there is no such page');
  await page.getByText('No pages found').waitFor();
});

it('suggests pages with a similar address when an address leads nowhere', async () => {
  const page = await open('/usgae');
  await page.getByText('/usgae', { exact: true }).waitFor();
  const suggested = page.getByRole('main').getByRole('listitem');
  await expect.poll(() => suggested.first().textContent()).toContain('/usage');
  await suggested.getByRole('link', { name: 'Usage' }).click();
  await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor();
});

it('opens a request by its ID, and shows which models were tried', async () => {
  const page = await open('/overview');
  await search(page, requestId);
  await page.waitForURL(`**/logs?charge=${requestId}`);
  const details = page.getByRole('dialog');
  await details.getByRole('heading', { name: 'Models tried' }).waitFor();
  await details.getByRole('link', { name: 'imgmodel-4' }).click();
  await page.waitForURL((url) => !url.search.includes(requestId));
  await details.getByText('For support').waitFor();
});

it('opens a list row wherever it is clicked', async () => {
  const page = await open('/logs');
  const requests = page.getByRole('table', { name: 'Requests, newest first' });
  const row = requests.getByRole('row').filter({ hasText: 'dead-image' });
  await row.getByRole('cell').nth(2).click();
  await page.waitForURL(`**/logs?charge=${requestId}`);
});
