import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Browser, Locator, Page } from 'playwright-core';
import { parseAmount } from '#money/amount.js';
import { visitor } from '../support/console.js';
import { json, type Relay, startRelay } from '../support/relay.js';
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

async function open(): Promise<Page> {
  tab = await Tab.open(browser, relay);
  await tab.goto('/');
  await tab.toEnd();
  return tab.page;
}

/** The amounts on a line, each as the server wrote it. */
async function amountsOf(receipt: Locator, line: string | RegExp): Promise<string[]> {
  const found = receipt.locator('.receipt-lines > div').filter({ hasText: line }).locator('data');
  return found.evaluateAll((amounts) => amounts.map((amount) => amount.getAttribute('value') ?? ''));
}

/** What a customer pays for a call. */
async function paidFor(path: string, body: object): Promise<bigint> {
  const customer = await relay.customer('5');
  const before = await customer.balance();
  expect((await customer.send(path, json(body))).status).toBe(200);
  return parseAmount(before.main) - parseAmount((await customer.balance()).main);
}

describe('the landing page', () => {
  it('shows an image beside the relay’s receipt for it, and a call that fails', async () => {
    const page = await open();
    const receipt = page.getByRole('region', { name: 'Example receipt' });
    await receipt.getByText('Verified in your browser').waitFor();
    const model = (await receipt.locator('.receipt-title').textContent())!;
    const api = visitor(relay);
    const query = { model, group: 'Vendora-Main', n: 1 };
    const { data } = await api.GET('/api/public/quote', { params: { query } });
    expect(await amountsOf(receipt, 'Charged')).toEqual([data!.amount]);
    expect(await amountsOf(receipt, 'Held')).toEqual([data!.amount]);
    const paid = await paidFor('/v1/images/generations', { model, prompt: 'a lighthouse at dusk' });
    expect(parseAmount(data!.amount)).toBe(paid);

    const failed = page.getByRole('region', { name: 'Receipt of a failed call' });
    expect(await amountsOf(failed, 'Refunded')).toEqual([data!.amount]);
    expect(await amountsOf(failed, 'Charged')).toEqual(['0']);
    await page.getByRole('img', { name: /^A lighthouse at dusk/ }).waitFor();
    // It takes up its space before it loads.
    const width = `(async (image) => (await image.decode(), image.naturalWidth))(document.querySelector('.hero-picture img'))`;
    expect(await page.evaluate<number>(width)).toBe(960);
  });

  it('questions a receipt that does not add up', async () => {
    tab = await Tab.open(browser, relay);
    await tab.page.route('**/api/public/quote?*', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), amount: '0.019999999' } });
    });
    await tab.goto('/');
    const receipt = tab.page.getByRole('region', { name: 'Example receipt' });
    await receipt.getByText('Charged').waitFor();
    await expect.poll(() => receipt.getByText('Verified in your browser').count()).toBe(0);
  });

  it('calculates what calls would cost: images, seconds and tokens', async () => {
    const page = await open();
    const result = page.getByRole('region', { name: 'Estimated cost' });
    const choose = async (model: string) => {
      await page.getByRole('combobox', { name: 'Model' }).click();
      await page.getByRole('option', { name: model, exact: true }).click();
      await result.locator('.receipt-title').getByText(model, { exact: true }).waitFor();
    };
    await choose('imgmodel-4');
    await page.getByLabel('Images').fill('3');
    await result.getByText('3 images').waitFor();
    const [images] = await amountsOf(result, '3 images');
    const body = { model: 'imgmodel-4', prompt: 'three gates', n: 3 };
    expect(parseAmount(images!)).toBe(await paidFor('/v1/images/generations', body));

    await choose('vendora-imagine-video');
    await page.getByLabel('Seconds each').fill('4');
    await page.getByLabel('Videos').fill('1000000');
    await result.getByText('4 seconds').waitFor();
    await tab.settled();
    expect(await amountsOf(result, '1,000,000 videos')).toEqual(['200000']);
    await result.getByText('($260,000.00)').waitFor();

    await choose('vendora-chat');
    await page.getByLabel('Input tokens per call').fill('1000');
    await page.getByLabel('Output tokens per call').fill('10');
    await page.getByLabel('Calls').fill('2');
    await result.getByText('Output: 10').waitFor();
    await tab.settled();
    expect(await amountsOf(result, '2 calls')).toEqual(['0.0052']);
    await result.getByText('($0.00676)').waitFor();
    await page.getByLabel('Calls').fill('');
    await page.getByText('Fill in the fields to see the price.').waitFor();
  });

  it.each(['widest', 'wide', 'phone'] as const)(
    'loads what is below the first screen when it comes near, without moving anything: %s',
    async (width) => {
      tab = await Tab.open(browser, relay, { look: { width } });
      const { page } = tab;
      const parts: string[] = [];
      page.on('request', (request) => parts.push(new URL(request.url()).pathname));
      const isLoaded = () => parts.some((path) => /\/(landing-sections|Select|NumberInput)-/.test(path));
      await tab.goto('/');
      const wall = page.getByRole('heading', { name: 'Models and your prices' });
      await wall.waitFor();
      expect(isLoaded()).toBe(false);
      const heightBefore = await page.evaluate<number>('document.body.scrollHeight');
      const before = (await wall.boundingBox())!;
      await tab.toEnd();
      await page.getByRole('heading', { name: 'What will it cost?' }).waitFor();
      expect(isLoaded()).toBe(true);
      await page.evaluate('scrollTo(0, 0)');
      expect(await wall.boundingBox()).toEqual(before);
      // As much room as it takes on a desktop. On a phone it is longer, and nothing is below it.
      const height = await page.evaluate<number>('document.body.scrollHeight');
      expect(height).toBeGreaterThan(heightBefore * 0.8);
    },
  );

  it('also loads it for keyboard users', async () => {
    tab = await Tab.open(browser, relay);
    await tab.goto('/');
    const questions = tab.page.getByRole('heading', { name: 'Questions', exact: true });
    await expect.poll(() => questions.count()).toBe(0);
    await tab.page.keyboard.press('Tab');
    await questions.waitFor();
    expect(await tab.page.evaluate('scrollY')).toBe(0);
  });

  it('only links to pages that exist', async () => {
    const page = await open();
    const links = await page
      .getByRole('main')
      .getByRole('link')
      .evaluateAll((found) => found.map((link) => link.getAttribute('href')!));
    expect(links.length).toBeGreaterThan(15);
    const known = await page.request.get('/docs/');
    for (const link of new Set(links)) {
      // The documentation site is built separately; its pages are sources with the same names.
      if (link.startsWith('/docs/') && known.status() === 503) continue;
      expect([link, (await page.request.get(link, { headers: { accept: 'text/html' } })).status()]).toEqual([
        link,
        200,
      ]);
    }
  });

  it('answers questions', async () => {
    const page = await open();
    await page.getByText('What is a credit?').click();
    await page.getByText('costs $1.30, all fees included').waitFor();
  });
});
