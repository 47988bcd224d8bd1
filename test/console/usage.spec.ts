import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Browser, Page } from 'playwright-core';
import { readFile } from 'node:fs/promises';
import { textsOfPdf } from '../support/pdf.js';
import { type Person, person } from '../support/console.js';
import { type Relay, startRelay } from '../support/relay.js';
import { type Look, openBrowser, Tab } from './support/browser.js';
import { closeTabs, openLastBar, sparklinesOf } from './support/steps.js';
import { endedVideo, keyOf, play } from './support/work.js';

let relay: Relay;
let browser: Browser;
let someone: Person;
let projectKey: string;
let tab: Tab;

beforeAll(async () => {
  [relay, browser] = await Promise.all([startRelay(), openBrowser()]);
  someone = await person(relay, { credits: '5' });
  projectKey = await keyOf(someone, 'Spring campaign');
  const otherKey = await keyOf(someone, 'Newsletter');
  const picture = { prompt: 'a boat', model: 'imgmodel-4' };
  await play(relay, someone, { keyId: projectKey, path: 'images/generations', body: { ...picture, n: 3 } });
  await play(relay, someone, { keyId: otherKey, path: 'images/generations', body: picture });
});
afterAll(async () => {
  await browser?.close();
  await relay?.close();
});
afterEach(() => closeTabs(tab));

async function open(as: Person, path: string, look: Partial<Look> = {}): Promise<Page> {
  tab = await Tab.open(browser, relay, { as, look });
  await tab.goto(path);
  return tab.page;
}

describe('the usage page', () => {
  it('shows what a project cost last week, three clicks after sign-in', async () => {
    const page = await open(someone, '/overview');
    await page.getByRole('link', { name: 'Usage', exact: true }).click();
    await page.getByText('7 d', { exact: true }).click();
    await page.getByText('By key', { exact: true }).click();
    const costs = page.getByRole('table', { name: 'Spending breakdown' });
    await costs.getByRole('row', { name: /Spring campaign 0\.09 credits 75%/ }).waitFor();
    await costs.getByRole('row', { name: /Newsletter 0\.03 credits 25%/ }).waitFor();
    await page.getByText('($0.15)').waitFor();
    expect(new URL(page.url()).search).toBe('?range=7d&by=key');
  });

  it('goes from a name to its parts, and from a bar to its requests', async () => {
    const page = await open(someone, '/usage?by=key');
    const costs = page.getByRole('table', { name: 'Spending breakdown' });
    await costs.getByRole('link', { name: 'Spring campaign' }).click();
    await page.waitForURL(`**keyId=${projectKey}**`);
    await costs.getByRole('row', { name: /imgmodel-4 0\.09 credits 100%/ }).waitFor();
    await openLastBar(page, { figures: '0.09 credits', url: '**/logs?**at=**' });
    const requests = page.getByRole('table', { name: 'Requests, newest first' });
    await requests.getByText('3 images').waitFor();
    await expect.poll(() => requests.getByText('1 image', { exact: true }).count()).toBe(0);
    await page.getByRole('button', { name: 'Show the whole period' }).click();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await requests.getByText('1 image', { exact: true }).waitFor();
    await page.goBack();
    await page.waitForURL(`**keyId=${projectKey}**`);
  });

  it('counts requests in whole numbers', async () => {
    const page = await open(someone, '/usage?show=requests');
    const ticks = page.locator('.recharts-yAxis-tick-labels text');
    await ticks.first().waitFor();
    const texts = await ticks.allTextContents();
    expect(texts.length).toBeGreaterThan(1);
    expect(texts.filter((text) => /[.,]/.test(text))).toEqual([]);
  });

  it('zooms into the days that the pointer is dragged across', async () => {
    const page = await open(someone, '/usage');
    const box = (await page.locator('.recharts-cartesian-grid').first().boundingBox())!;
    const at = (share: number) => [box.x + box.width * share, box.y + box.height / 2] as const;
    await page.mouse.move(...at(0.8));
    await page.mouse.down();
    await page.mouse.move(...at(0.99), { steps: 3 });
    await page.locator('.chart-range').waitFor();
    await page.mouse.up();
    await page.waitForURL(/from=\d{4}-\d\d-\d\d&to=\d{4}-\d\d-\d\d/);
    await page.locator('.chart-range').waitFor({ state: 'detached' });
  });

  it('names the parts of a bar in a legend of buttons and in a table', async () => {
    const page = await open(someone, '/usage?by=key', { width: 'narrow', scheme: 'dark' });
    const chart = page.getByRole('figure', { name: 'Spent over time, grouped by Key' });
    const values = chart.getByRole('table');
    await values.getByRole('row', { name: /0\.09 credits 0\.03 credits 0\.00 credits/ }).waitFor();
    await chart.getByRole('button', { name: 'Newsletter' }).focus();
    await page.keyboard.press('Enter');
    await page.waitForURL('**keyId=**');
    expect(await tab.isTooWide()).toBe(false);
  });

  it('shows keyboard users the table, and lets them narrow the page from it', async () => {
    const page = await open(someone, '/usage?by=key', { width: 'narrow' });
    const chart = page.getByRole('figure', { name: 'Spent over time, grouped by Key' });
    const heightOf = async (name: string) =>
      (await chart.getByRole('button', { name }).boundingBox())!.height;
    await chart
      .getByRole('table')
      .getByRole('row', { name: /0\.09 credits/ })
      .waitFor();
    await chart.getByRole('button', { name: 'Newsletter' }).focus();
    for (
      let left = 5;
      left > 0 && (await page.locator(':focus').textContent()) !== 'Show values as a table';
      left--
    )
      await page.keyboard.press('Tab');
    expect(await heightOf('Show values as a table')).toBeGreaterThan(20);
    await page.keyboard.press('Enter');
    await chart.getByRole('table').getByRole('button').last().focus();
    expect(await tab.barriers()).toEqual([]);
    expect(await tab.isTooWide()).toBe(false);
    await page.keyboard.press('Enter');
    await page.waitForURL('**at=**');
  });
});

describe('the breakdown', () => {
  it('draws each day’s cost to scale', async () => {
    const saver = await person(relay, { credits: '1' });
    await relay.fixture.owner.query(
      `INSERT INTO usage_days (account_id, day, key_id, model_id, requests, settled, failures, latency_ms, timed)
       SELECT $1, (now() AT TIME ZONE 'UTC')::date - ago, $2, 'imgmodel-4', 1, nano, 0, 0, 0
       FROM (VALUES (2, 10000000), (4, 40000000)) AS days (ago, nano)`,
      [saver.accountId, await keyOf(saver, 'Newsletter')],
    );
    const page = await open(saver, '/usage?range=7d&by=key');
    const row = page
      .getByRole('table', { name: 'Spending breakdown' })
      .getByRole('row', { name: /Newsletter/ });
    await row.filter({ hasText: '0.05 credits' }).waitFor();
    const values = page.getByRole('figure').locator('tbody tr');
    const texts = await values.locator('td:nth-of-type(1)').allTextContents();
    const figures = texts.map(Number.parseFloat);
    expect(figures.filter((figure) => figure > 0)).toEqual([0.04, 0.01]);
    expect(await sparklinesOf(row)).toEqual([figures.map((figure) => figure / 0.04)]);
    await tab.look({ scheme: 'dark', width: 'phone' });
    await page.locator('.sparkline svg').waitFor({ state: 'hidden' });
  });
});

describe('the statement', () => {
  it('can be narrowed to a key', async () => {
    const page = await open(someone, '/wallet?tab=statement');
    await page.getByRole('row', { name: /imgmodel-4 Charged -0\.09 credits/ }).waitFor();
    await page.getByRole('combobox', { name: 'Key' }).click();
    await page.getByRole('option', { name: 'Newsletter' }).click();
    await page.waitForURL('**keyId=**');
    await page.getByRole('row', { name: /imgmodel-4 Charged -0\.03 credits/ }).waitFor();
    await page.getByRole('row', { name: /0\.09 credits/ }).waitFor({ state: 'detached' });
    const csv = await page.getByRole('link', { name: 'CSV' }).last().getAttribute('href');
    expect(csv).toMatch(/^\/api\/statement\.csv\?view=requests&keyId=/);
  });

  it('for a month has a subtotal for each key, and can be requested for one of them', async () => {
    const page = await open(someone, '/wallet?tab=statement');
    await page.getByRole('combobox', { name: 'Month (UTC)' }).click();
    await page.getByRole('option').first().click();
    const keys = page.getByRole('table', { name: 'Charges by key' });
    await keys.getByRole('row', { name: /Newsletter 1 0\.03 credits 0\.00 credits 0\.03 credits/ }).waitFor();
    const sums = page.locator('.figures', { hasText: 'Opening balance' }).locator('dt, dd');
    expect((await sums.allInnerTexts()).join(' ').replaceAll(/\s+/g, ' ')).toBe(
      'Opening balance 0.00 credits Top-ups and other 5.00 credits Net cost 0.12 credits Closing balance 4.88 credits',
    );
    // Amounts end where their heading does.
    const room = `getComputedStyle(document.querySelector('[aria-label="Charges by key"] .money')).paddingInlineEnd`;
    expect(await page.evaluate<string>(room)).toBe('0px');
    await keys.getByRole('link', { name: 'Spring campaign' }).click();
    await page.waitForURL(`**keyId=${projectKey}**`);
    await page.getByText('Only Spring campaign').waitFor();
    const models = page.getByRole('table', { name: 'Charges by model' });
    await models.getByRole('row', { name: /imgmodel-4 Call charged -0\.09 credits/ }).waitFor();
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'PDF', exact: true }).click(),
    ]);
    const texts = textsOfPdf(await readFile(await file.path()));
    expect(texts).toContain(`Key Spring campaign (${projectKey})`);
    expect(texts.slice(texts.indexOf('Total'))[1]).toBe('-0.09');
    await page.getByRole('button', { name: 'Show all keys' }).click();
    await keys.getByRole('row', { name: /Spring campaign/ }).waitFor();
  });
});

describe('a payment that came without an order', () => {
  it('has its receipt in the statement', async () => {
    const page = await open(someone, '/wallet?tab=statement');
    const line = page.getByRole('row', { name: /Top-up/ });
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      line.getByRole('link', { name: 'Receipt (PDF)' }).click(),
    ]);
    expect(file.suggestedFilename()).toMatch(/^receipt-.*\.pdf$/);
    const texts = textsOfPdf(await readFile(await file.path()));
    expect(texts).toEqual(expect.arrayContaining(['Receipt', someone.accountId]));
  });
});

describe('the log', () => {
  it('finds a request by its ID in one step, and a key’s requests by how the key begins', async () => {
    const { data } = await someone.api.GET('/api/usage', { params: { query: { keyId: projectKey } } });
    const page = await open(someone, '/logs');
    const requests = page.getByRole('table', { name: 'Requests, newest first' });
    const field = page.getByLabel('Find by ID');
    await field.fill(data!.items[0]!.requestId!);
    await page.waitForURL('**/logs?id=**');
    await requests.getByText('3 images').waitFor();
    await expect.poll(() => requests.locator('tbody tr').count()).toBe(1);
    await expect.poll(() => page.getByRole('link', { name: 'CSV' }).count()).toBe(0);
    // So short a part looks for nothing yet, so the page has all requests, and offers their file.
    await field.fill('01ab');
    await page.getByRole('link', { name: 'CSV' }).waitFor();
    const { data: made } = await someone.api.POST('/api/keys', {
      body: { name: 'Banners', group: 'Vendora-Main' },
    });
    await tab.goto('/logs');
    // A whole key, pasted. Its secret part stays out of the address.
    await field.fill(made!.apiKey);
    await page.waitForURL(`**/logs?keyId=${made!.keyId}`);
    await page.getByText('No requests match your filters').waitFor();
    await field.fill('sk-tg-unknown-and-secret');
    await page.waitForURL('**id=sk-tg-unkn');
    await page.getByText('No request has this ID').waitFor();
  });
});

describe('a row of the log', () => {
  it('has a menu that copies its ID and narrows the log to its key, also by keyboard', async () => {
    const { data } = await someone.api.GET('/api/usage', { params: { query: { keyId: projectKey } } });
    const page = await open(someone, '/logs');
    const row = page.getByRole('row', { name: /3 images/ });
    const button = row.getByRole('button', { name: 'Actions' });
    await row.hover();
    await button.click();
    await page.getByRole('menuitem', { name: 'Copy request ID' }).click();
    await page.getByText('Copied', { exact: true }).waitFor();
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(data!.items[0]!.requestId);
    // The menu is closed, its button has the focus again, and no click has reached the row.
    await button.and(page.locator(':focus[aria-expanded=false]')).press('Enter');
    await page.getByRole('menuitem').first().and(page.locator(':focus')).waitFor();
    expect(await tab.barriers()).toEqual([]);
    await page.getByRole('menuitem', { name: 'Show only Spring campaign' }).press('Enter');
    await page.waitForURL(`**/logs?keyId=${projectKey}`);
    await page.getByRole('row', { name: /1 image/ }).waitFor({ state: 'detached' });
    await row.waitFor();
    // As on pages that are not encrypted.
    await page.evaluate('delete Navigator.prototype.clipboard');
    await row.hover();
    await button.click();
    await page.getByRole('menuitem', { name: 'Copy charge ID' }).click();
    await page.getByText('Your browser didn’t allow copying.').waitFor();
  });
});

describe('an address that was edited by hand', () => {
  it('is understood as far as possible, and shows the list', async () => {
    const page = await open(
      someone,
      '/logs?keyId=nobody&model=%3F&group=a%20b&family=what&at=never&model=x/',
    );
    await page.getByRole('row', { name: /3 images/ }).waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Clear filters' }).count()).toBe(0);
  });

  it('leads back to the first page if the server refuses its cursor', async () => {
    tab = await Tab.open(browser, relay, { as: someone, expectedStatuses: [400] });
    await tab.goto('/logs?cursor=elsewhere');
    await tab.page.getByRole('button', { name: 'First page' }).click();
    await tab.page.getByRole('row', { name: /3 images/ }).waitFor();
  });
});

describe('an ID', () => {
  it('of a task leads to its request from anywhere, pasted and sent at once', async () => {
    const task = await endedVideo(relay, someone, { keyId: projectKey, prompt: 'a boat' });
    const page = await open(someone, '/tokens');
    await page.keyboard.press('Control+K');
    await page.getByLabel('Search pages, or paste any ID').fill(task.id);
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Request cost' }).getByText('vendora-imagine-video').waitFor();
    await tab.goto(`/logs?id=${task.id}`);
    await page.getByRole('table', { name: 'Requests, newest first' }).getByText('4 seconds').waitFor();
  });

  it('of a request leads support to it, and finance too', async () => {
    const staff = await person(relay, { roles: ['support', 'finance'] });
    const { data } = await someone.api.GET('/api/usage', { params: { query: { keyId: projectKey } } });
    const { chargeId, requestId } = data!.items.at(-1)!;
    const page = await open(staff, '/support/accounts');
    await page.keyboard.press('Control+K');
    await page.getByLabel('Search pages, or paste any ID').fill(requestId!);
    const found = page.getByRole('button', { name: `Request imgmodel-4 · ${chargeId}` });
    await found.nth(1).waitFor();
    await found.first().click();
    await page.waitForURL(`**/support/accounts/${someone.accountId}?tab=usage&charge=${chargeId}`);
    await page.getByRole('dialog').getByText('imgmodel-4').first().waitFor();
  });

  it('that nothing has is reported as unknown', async () => {
    const page = await open(someone, '/overview');
    await page.keyboard.press('Control+K');
    await page.getByLabel('Search pages, or paste any ID').fill('01hzzzzzzzzzzzzzzzzzzzzzzz');
    await page.getByText('No request has this ID').waitFor();
  });
});
