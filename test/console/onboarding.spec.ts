import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Browser, Locator, Page } from 'playwright-core';
import { newId } from '#platform/ids.js';
import { type Person, person } from '../support/console.js';
import { awaitMail, tokenIn } from '../support/mail.js';
import { expectCleanLedger, json, type Relay, startRelay, until } from '../support/relay.js';
import { openBrowser, Tab } from './support/browser.js';
import { closeTabs, PASSWORD, staysOn } from './support/steps.js';
import { keyOf, play } from './support/work.js';

const MOST_CLICKS = 7;
const run = promisify(execFile);

let relay: Relay;
let browser: Browser;
const tabs: Tab[] = [];

beforeAll(async () => {
  [relay, browser] = await Promise.all([
    startRelay({ SANDBOX_PAYMENTS: 'true', MAIL_POLL_SECONDS: '0.1' }),
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

/** Counts what a new customer clicks, including the link in the mail. */
class Clicks {
  count = 0;

  async on(target: Locator): Promise<void> {
    this.count += 1;
    await target.click();
  }

  async link(page: Page, path: string): Promise<void> {
    this.count += 1;
    await page.goto(path);
  }
}

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });

describe('a new customer', () => {
  it('has a first image after seven clicks, with its receipt, and calls from code with the same key', async () => {
    const tab = await Tab.open(browser, relay);
    tabs.push(tab);
    const { page } = tab;
    const clicks = new Clicks();
    await tab.goto('/sign-up');
    const email = `${newId()}@example.com`;
    await page.getByLabel('Email address').fill(email);
    await clicks.on(button(page, 'Send link'));
    const mail = await awaitMail(relay, email, { subject: /Finish signing up/ });
    await clicks.link(page, `/sign-up/confirm#token=${tokenIn(mail)}`);
    await page.getByLabel(/^New password/).fill(PASSWORD);
    await clicks.on(button(page, 'Create account'));
    await page.waitForURL('**/playground');
    await expect.poll(() => page.getByLabel('Prompt').inputValue()).toMatch(/lighthouse/);
    await page.getByText(/^Price: 0\.0\d credits/).waitFor();
    await clicks.on(button(page, 'Generate image'));
    const sheet = page.getByRole('dialog', { name: 'Add credits to run this call' });
    await clicks.on(sheet.getByRole('button', { name: 'Pay $13.00' }));
    await page.getByRole('heading', { name: 'Sandbox payment' }).waitFor();
    await clicks.on(button(page, 'Pay'));
    // The page comes back and makes the call by itself.
    await page.getByRole('img', { name: 'Generated image 1' }).waitFor();
    expect(clicks.count).toBeLessThanOrEqual(MOST_CLICKS);
    await page.getByText('Verified in your browser').waitFor();
    expect(await tab.barriers()).toEqual([]);
    await tab.picture('onboarding/first-image');
    await callFromCode(page);
    await comesBackToImage(page);
  });

  it('can get the mail again, and may use another address', async () => {
    const tab = await Tab.open(browser, relay);
    tabs.push(tab);
    const { page } = tab;
    await tab.goto('/sign-up');
    const email = `${newId()}@example.com`;
    await page.getByLabel('Email address').fill(email);
    await button(page, 'Send link').click();
    await button(page, 'Send it again').click();
    await page.getByText('Sent again.').waitFor();
    const mail = await awaitMail(relay, email, { subject: /Finish signing up/, count: 2 });
    expect(tokenIn(mail)).not.toBe('');
    await button(page, 'Use a different address').click();
    await page.getByLabel('Email address').waitFor();
  });
});

describe('the page that connects code', () => {
  it('puts a key that was just created into its code, and shows the receipt of the first request', async () => {
    const someone = await person(relay, { credits: '5' });
    // The page asks for the latest requests every few seconds, even as its session ends.
    const tab = await Tab.open(browser, relay, { as: someone, expectedStatuses: [401] });
    tabs.push(tab);
    const { page } = tab;
    await tab.goto('/connect');
    await page.getByText('Waiting for your first request').waitFor();
    const code = page.getByRole('region', { name: 'curl' });
    await code.getByText('<API_KEY>').waitFor();
    await button(page, 'Create a key for your code').click();
    await code.getByText('Bearer sk-tg-').waitFor();
    expect(await tab.barriers()).toEqual([]);
    const { stdout } = await run('bash', ['-c', (await code.textContent())!]);
    expect(stdout).toContain('"url"');
    const receipt = page.getByRole('status').filter({ hasText: 'Your first request arrived' });
    await receipt.getByText('Verified in your browser').waitFor();
    // Another page in the same tab knows the key too, but no other person in it does.
    await tab.follow('/playground');
    await page.getByRole('region', { name: 'curl' }).getByText('Bearer sk-tg-').waitFor();
    await button(page, 'Your account').click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.waitForURL('**/sign-in');
    await tab.follow('/connect');
    await page.getByRole('region', { name: 'curl' }).getByText('<API_KEY>').waitFor();
  });

  it('waits for a first request only if there was none, and at most ten minutes', async () => {
    const someone = await person(relay, { credits: '5' });
    const tab = await Tab.open(browser, relay, { as: someone });
    tabs.push(tab);
    const { page } = tab;
    const waiting = page.getByText('Waiting for your first request');
    await page.clock.install();
    await tab.goto('/connect');
    await waiting.waitFor();
    await page.clock.fastForward('10:00');
    await page.getByText('No request yet').waitFor();
    await button(page, 'Check again').click();
    await waiting.waitFor();
    const body = { model: 'vendora-imagine-image', prompt: 'a gate' };
    await play(relay, someone, { keyId: await keyOf(someone), path: 'images/generations', body });
    await page.getByText('Your first request arrived').waitFor();
    const asked = page.waitForResponse((response) => response.url().includes('/api/usage?'));
    await page.reload();
    await asked;
    await tab.settled();
    await expect.poll(() => waiting.count()).toBe(0);
  });

  it('is one step from a new key', async () => {
    const tab = await Tab.open(browser, relay, { as: await person(relay) });
    tabs.push(tab);
    const { page } = tab;
    await tab.goto('/tokens?new=yes');
    await page.getByLabel('Name').fill('studio');
    await button(page, 'Create the key').click();
    const once = page.getByRole('dialog', { name: 'The key studio' });
    const apiKey = await once.getByText(/^sk-tg-/).textContent();
    await page.getByLabel('I’ve saved this').check();
    await page.getByRole('link', { name: 'Use in code' }).click();
    await page.getByRole('tab', { name: 'OpenAI Python' }).click();
    await page.getByRole('region', { name: 'OpenAI Python' }).getByText(apiKey!).waitFor();
  });
});

describe('a call that waits for a payment', () => {
  it('is not made at a price that was not shown: the page asks again', async () => {
    const someone = await person(relay);
    await keyOf(someone);
    const model = await ownModel();
    const tab = await Tab.open(browser, relay, { as: someone });
    tabs.push(tab);
    const { page } = tab;
    await tab.goto(`/playground?model=${model}`);
    await page.getByLabel('Prompt').fill('a lighthouse');
    await page.getByText('Price: 0.10 credits').waitFor();
    await button(page, 'Generate image').click();
    await button(page, 'Pay $13.00').click();
    await page.getByRole('heading', { name: 'Sandbox payment' }).waitFor();
    await raisePrice(someone, model);
    await button(page, 'Pay').click();
    await page.getByText('Check the price and send again').waitFor();
    await page.getByText('Price: 0.11 credits').waitFor();
    await staysOn(page, '/library');
    const calls = () =>
      relay.fixture.owner.query('SELECT FROM charges WHERE account_id = $1', [someone.accountId]);
    expect((await calls()).rowCount).toBe(0);
    await button(page, 'Generate image').click();
    await page.getByRole('img', { name: 'Generated image 1' }).waitFor();
    expect((await calls()).rowCount).toBe(1);
  });

  it('is not made if the price changed while the page was open', async () => {
    const someone = await person(relay, { credits: '5' });
    await keyOf(someone);
    const model = await ownModel();
    const tab = await Tab.open(browser, relay, { as: someone });
    tabs.push(tab);
    const { page } = tab;
    await tab.goto(`/playground?model=${model}`);
    await page.getByLabel('Prompt').fill('a lighthouse');
    await page.getByText('Price: 0.10 credits').waitFor();
    await raisePrice(someone, model);
    await button(page, 'Generate image').click();
    await page.getByText('Check the price and send again').waitFor();
    await page.getByText('Price: 0.11 credits').waitFor();
    await staysOn(page, '/library');
    expect(await page.getByLabel('Prompt').inputValue()).toBe('a lighthouse');
    await button(page, 'Generate image').click();
    await page.getByRole('img', { name: 'Generated image 1' }).waitFor();
    // What was sent is no longer asked about.
    await tab.follow('/library');
  });
});

/** A model for this test alone, at 0.1 credits per image. */
async function ownModel(): Promise<string> {
  const id = `own-${newId()}`;
  const { owner } = relay.fixture;
  await owner.query(
    `INSERT INTO models (id, family, unit, owned_by, limits)
     SELECT $1, family, unit, owned_by, limits FROM models WHERE id = 'vendora-imagine-image'`,
    [id],
  );
  await owner.query('INSERT INTO price_versions (model_id, unit_price) VALUES ($1, 0.1)', [id]);
  await owner.query(`INSERT INTO group_models VALUES ('Vendora-Main', $1)`, [id]);
  await owner.query(
    `INSERT INTO channel_models SELECT channel_id, $1, upstream_model FROM channel_models WHERE model_id = 'vendora-imagine-image'`,
    [id],
  );
  await until('the model to be known', async () => (await priceOf(await person(relay), id)) !== undefined);
  return id;
}

async function raisePrice(someone: Person, model: string): Promise<void> {
  const admin = await person(relay, { roles: ['admin'] });
  const changes = [{ kind: 'price' as const, model, price: { unitPrice: '0.11' } }];
  const { data } = await admin.api.POST('/api/admin/price-proposals', { body: { changes, note: 'a test' } });
  const { error } = await admin.api.POST('/api/admin/price-proposals/{proposalId}/confirm', {
    params: { path: { proposalId: data!.id } },
    body: { revision: 1 },
  });
  expect(error).toBeUndefined();
  await until('the price to be known', async () => (await priceOf(someone, model)) === '0.11');
}

async function priceOf({ api }: Person, model: string): Promise<string | undefined> {
  const body = { model, group: 'Vendora-Main', dimensions: {}, n: 1 };
  return (await api.POST('/api/quote', { body }).catch(() => null))?.data?.amount;
}

/** Uses the key that the code shows. The page turns green without a click. */
async function callFromCode(page: Page): Promise<void> {
  await page.getByText('Waiting for your first request').waitFor();
  const code = await page.getByRole('region', { name: 'curl' }).textContent();
  const apiKey = /Bearer (sk-tg-[\w-]+)/.exec(code!)![1]!;
  const body = { model: 'vendora-imagine-image', prompt: 'a gate' };
  const { status } = await fetch(
    `${relay.baseUrl}/v1/images/generations`,
    json(body, { authorization: `Bearer ${apiKey}` }),
  );
  expect(status).toBe(200);
  const receipt = page.getByRole('status').filter({ hasText: 'Your first request arrived' });
  await receipt.getByText('Verified in your browser').waitFor();
}

/** The call that waited was made once. Its image is still shown, but the key is not. */
async function comesBackToImage(page: Page): Promise<void> {
  await page.reload();
  await page.getByRole('img', { name: 'Generated image 1' }).waitFor();
  const code = page.getByRole('region', { name: 'curl' });
  await code.getByText('<API_KEY>').first().waitFor();
  await expect.poll(() => code.textContent()).not.toContain('sk-tg-');
  const { rows } = await relay.fixture.owner.query(
    `SELECT (SELECT count(*) FROM api_keys)::int AS keys, (SELECT count(*) FROM charges)::int AS calls`,
  );
  expect(rows).toEqual([{ keys: 1, calls: 2 }]);
}
