import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Browser } from 'playwright-core';
import { writeBooks } from '../bench/finance-bench.books.js';
import { type Person, person } from '../support/console.js';
import { runControls } from '../support/controls.js';
import { json, type Relay, startRelay, until } from '../support/relay.js';
import { importReport, yesterday } from './support/books.js';
import { openBrowser, Tab } from './support/browser.js';
import { confirmed, proposal } from './support/staff.js';
import { endedVideo, keyOf, withoutKeys } from './support/work.js';

/**
 * `npm run pictures`: takes the screenshots in README and docs from the real pages, with the same data each time except
 * for the date. They are part of the repository, so they are small.
 */
const FOLDER = join(import.meta.dirname, '../../docs/pictures');
const QUALITY = 82;
const MOST_BYTES = 80_000;
const DAYS = 28;
/** The generator gives this customer every twentieth charge. */
const ACCOUNT_ID = `book${'0'.repeat(22)}`;

let relay: Relay;
let browser: Browser;
let customer: Person;
let finance: Person;
let admin: Person;

beforeAll(async () => {
  const quick = { COST_ACCRUAL_SECONDS: '0.5', RECOGNITION_SECONDS: '0.5', CHAIN_SEAL_SECONDS: '0.5' };
  const exact = { RECONCILE_GRACE_SECONDS: '0', PERIOD_MARGIN_SECONDS: '0.01', USAGE_SUMMARY_SECONDS: '0.2' };
  const environment = { ...quick, ...exact, PUBLIC_BASE_URL: 'https://api.example.com' };
  [relay, browser] = await Promise.all([startRelay(environment), openBrowser()]);
  await writeBooks(relay.fixture.owner, {
    entries: 12_000,
    accounts: 8,
    days: DAYS,
    hasOpenCharges: false,
  });
  await relay.fixture.owner.query(`UPDATE usage_progress SET through = '-infinity'`);
  customer = await person(relay, { accountId: ACCOUNT_ID });
  finance = await person(relay, { roles: ['finance'] });
  admin = await person(relay, { roles: ['admin'] });
  await workToday();
});
afterAll(async () => {
  await browser?.close();
  await relay?.close();
});

/** A chat that is explained line by line, and a finished video. */
async function workToday(): Promise<void> {
  await withoutKeys(customer);
  const keyId = await keyOf(customer, 'studio');
  const messages = [{ role: 'user', content: 'word '.repeat(100) }];
  const body = { model: 'vendora-chat', messages, max_tokens: 50 };
  const headers = { ...customer.headers, 'x-tollgate-key': keyId };
  await fetch(`${relay.consoleUrl}/api/playground/v1/chat/completions`, json(body, headers));
  await endedVideo(relay, customer, { keyId, prompt: 'A paper boat under the northern lights' });
}

async function draw(name: string, as: Person | null, path: string, ready: (tab: Tab) => Promise<unknown>) {
  const tab = await Tab.open(browser, relay, as ? { as } : {});
  await tab.goto(path);
  await ready(tab);
  await tab.settled();
  // Wait for whatever is still moving.
  await tab.page.evaluate(
    'document.getAnimations().filter((each) => each.effect.getComputedTiming().endTime < Infinity).forEach((each) => each.finish())',
  );
  const cdp = await tab.context.newCDPSession(tab.page);
  const { data } = await cdp.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY });
  const picture = Buffer.from(data, 'base64');
  await mkdir(FOLDER, { recursive: true });
  await writeFile(join(FOLDER, `${name}.webp`), picture);
  const problems = tab.problems();
  await tab.close();
  expect({ name, problems, isSmall: picture.length < MOST_BYTES }).toEqual({
    name,
    problems: [],
    isSmall: true,
  });
}

const drawn = ({ page }: Tab) => page.locator('.recharts-surface').first().waitFor();
const heading =
  (name: string) =>
  ({ page }: Tab) =>
    page.getByRole('heading', { name }).first().waitFor();

describe('the screenshots', () => {
  it('of the marketplace', () =>
    draw('marketplace', null, '/marketplace', ({ page }) => page.getByText('14 models').waitFor()));

  it('of the overview', async () => {
    await until('the sums of the month', async () => {
      const { data } = await customer.api.GET('/api/overview', { params: { query: {} } });
      return data!.total.requests > 100;
    });
    await draw('overview', customer, '/overview', drawn);
  });

  it('of a charge and its explanation', async () => {
    const query = { family: 'chat' } as const;
    const { data } = await customer.api.GET('/api/usage', { params: { query } });
    await draw('usage-charge', customer, `/logs?charge=${data!.items[0]!.chargeId}`, ({ page }) =>
      page.getByText('Verified in your browser').waitFor(),
    );
  });

  it('of the playground', () =>
    draw('playground', customer, '/playground', async ({ page }) => {
      await page.getByLabel('Prompt').fill('A lighthouse at dusk');
      await page.getByRole('button', { name: 'Generate image' }).click();
      await page.getByRole('img', { name: 'Generated image 1' }).waitFor();
      await page.locator('button[data-loading]').waitFor({ state: 'detached' });
    }));

  it('of prices on their timeline', async () => {
    const price = (unitPrice: string) =>
      ({ kind: 'price', model: 'imgmodel-4', price: { unitPrice } }) as const;
    const now = await proposal(admin, [price('0.04')], { note: 'The vendor asks more since this month.' });
    await confirmed(relay, now);
    const effectiveAt = new Date(Date.now() + 30 * 86_400_000).toISOString();
    await confirmed(relay, await proposal(admin, [price('0.035')], { effectiveAt, note: 'Summer' }));
    await draw('price-time-line', admin, '/admin/prices/models/imgmodel-4', drawn);
  });

  it('of the books at a glance and the reconciliation, with what is wrong in them', async () => {
    await importReport(finance, [
      { lineId: 'txn_lost', paymentId: 'pi_lost', amount: '13.00', fee: '0.68' },
      { lineId: 'txn_odd', paymentId: 'pi_odd', amount: '26.00', fee: '1.05' },
    ]);
    const path = '/api/finance/provider-lines/{provider}/{lineId}/book';
    const params = { path: { provider: 'stripe', lineId: 'txn_odd' } } as const;
    await finance.api.POST(path, { params, body: { note: 'The event was lost.' } });
    await runControls(finance);
    await draw('books', finance, '/finance/books', heading('Controls'));
    const days = `from=${yesterday()}&to=${yesterday()}`;
    await draw('reconciliation', finance, `/finance/reconciliation?${days}`, heading('Reconciliation'));
  });

  it('of the close of a period', async () => {
    const end = new Date().toISOString().slice(0, 10);
    await draw('period-close', finance, `/finance/periods/close?end=${end}`, async ({ page }) => {
      await page.getByRole('button', { name: 'Run the checklist' }).click();
      await page.getByRole('button', { name: 'Run it again' }).waitFor();
    });
  });
});
