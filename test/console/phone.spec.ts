import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Browser } from 'playwright-core';
import { person } from '../support/console.js';
import { json, type Relay, startRelay, until } from '../support/relay.js';
import { openBrowser, Tab } from './support/browser.js';
import { closeTabs } from './support/steps.js';

const PHONE = { width: 390, height: 844 };
const REQUESTS = 33;
const MOST_PX = 3_000;

let relay: Relay;
let browser: Browser;

beforeAll(async () => {
  [relay, browser] = await Promise.all([startRelay(), openBrowser()]);
});
afterAll(async () => {
  await browser?.close();
  await relay?.close();
});

describe('lists on a phone', () => {
  it('show 33 requests in less than 3,000 px, in two lines each', async () => {
    const customer = await relay.customer('5');
    const owner = await person(relay, { accountId: customer.accountId });
    const picture = { model: 'vendora-imagine-image', prompt: 'a gate' };
    for (let sent = 0; sent < REQUESTS; sent++)
      await customer.send('/v1/images/generations', json({ ...picture, n: (sent % 3) + 1 }));
    await until('the requests to be settled', async () => {
      const query = { state: 'settled', limit: REQUESTS } as const;
      const { data } = await owner.api.GET('/api/usage', { params: { query } });
      return data!.items.length === REQUESTS;
    });
    const tab = await Tab.open(browser, relay, { as: owner });
    const { page } = tab;
    await page.setViewportSize(PHONE);
    await tab.goto('/logs');
    const list = page.getByRole('table', { name: /^Requests/ });
    const rows = list.locator('tbody tr');
    await rows.nth(REQUESTS - 1).waitFor();
    await expect.poll(() => rows.count()).toBe(REQUESTS);
    expect((await list.boundingBox())!.height).toBeLessThan(MOST_PX);
    expect(await tab.isTooWide()).toBe(false);
    expect(await tab.barriers()).toEqual([]);
    await tab.picture('phone/logs');
    const row = rows.first();
    const top = async (place: string) =>
      (await row.locator(`[data-phone=${place}]`).first().boundingBox())!.y;
    expect(Math.abs((await top('main')) - (await top('side')))).toBeLessThan(6);
    expect(await top('below')).toBeGreaterThan(await top('main'));
    await closeTabs(tab);
  });
});
