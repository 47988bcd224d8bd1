import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Browser, Locator, Page } from 'playwright-core';
import { inTransaction } from '#database/database.js';
import { bookSuspense, type SuspenseWhy } from '#ledger/postings/suspense.js';
import { newId } from '#platform/ids.js';
import { type Person, person } from '../support/console.js';
import { expectCleanLedger, json, type Relay, startRelay } from '../support/relay.js';
import { caughtUp, stripeReport, yesterday } from './support/books.js';
import { openBrowser, Tab } from './support/browser.js';
import { closeTabs, openLastBar, staysOn } from './support/steps.js';

let relay: Relay;
let browser: Browser;
const tabs: Tab[] = [];

beforeAll(async () => {
  const quick = { CHAIN_SEAL_SECONDS: '0.2', COST_ACCRUAL_SECONDS: '0.2', RECOGNITION_SECONDS: '0.2' };
  const exact = { RECONCILE_GRACE_SECONDS: '0', PERIOD_MARGIN_SECONDS: '0.01' };
  [relay, browser] = await Promise.all([startRelay({ ...quick, ...exact }), openBrowser()]);
});
afterAll(async () => {
  await browser?.close();
  await relay?.close();
});
afterEach(async () => {
  await closeTabs(...tabs.splice(0));
  await expectCleanLedger(relay);
});

async function open(as: Person): Promise<Tab> {
  const tab = await Tab.open(browser, relay, { as });
  tabs.push(tab);
  return tab;
}

/** Drops the file on the page, looks at what it would change, and imports it. */
async function importFile({ page }: Tab, report: string): Promise<void> {
  const file = { name: 'balance.csv', mimeType: 'text/csv', buffer: Buffer.from(report) };
  await page.getByLabel('The file to import').setInputFiles(file);
  const trial = page.getByRole('status').filter({ hasText: 'What balance.csv would change' });
  await trial.getByRole('row', { name: 'New lines 2' }).waitFor();
  await trial.getByRole('button', { name: 'Import' }).click();
  await page.getByText('Imported: 2 new lines.').waitFor();
}

async function say(dialog: Locator, button: string, note: string): Promise<void> {
  await dialog.getByRole('textbox').last().fill(note);
  await dialog.getByRole('button', { name: button }).click();
}

async function book(page: Page, row: RegExp): Promise<void> {
  await page.getByRole('row', { name: row }).getByRole('button', { name: 'Book it' }).click();
  const dialog = page.getByRole('dialog', { name: 'Book from this report line' });
  await say(dialog, 'Book it', 'The event was lost.');
  await page.getByText('Booked into suspense.').first().waitFor();
  await dialog.waitFor({ state: 'detached' });
}

async function runControl(page: Page, title: string): Promise<void> {
  await page.getByRole('button', { name: `Run now: ${title}` }).click();
  await page.getByText('1 control has run.').first().waitFor();
}

/** Approves everything pending, as another person. */
async function agree({ api }: Person): Promise<void> {
  const { data } = await api.GET('/api/approvals', { params: { query: { state: 'pending' } } });
  const approvalId = data!.items[0]!.id;
  await api.POST('/api/approvals/{approvalId}/approve', { params: { path: { approvalId } }, body: {} });
}

/** Checks that the console has sentences for what the control found and what the close left open. */
async function readInChinese(finance: Person, period: string): Promise<void> {
  const tab = await Tab.open(browser, relay, { as: finance, look: { language: 'zh' } });
  tabs.push(tab);
  const sentence = /26\.00（.*pi_odd.*）处于暂记：没有对应订单。/;
  await tab.goto('/finance/controls/suspense');
  await tab.page.getByRole('button', { name: '立即运行' }).click();
  await tab.page.getByRole('row').getByText(sentence).waitFor();
  await tab.goto(period);
  await tab.page.getByRole('listitem').getByText(sentence).waitFor();
}

describe('finance', () => {
  it('finds payments that never reached us, corrects one, leaves the other, and closes the period', async () => {
    const [finance, second, buyer] = await Promise.all([
      person(relay, { roles: ['finance'] }),
      person(relay, { roles: ['finance'] }),
      person(relay),
    ]);
    const tab = await open(finance);
    const { page } = tab;
    const lost = { lineId: 'txn_lost', paymentId: 'pi_lost', amount: '13.00', fee: '0.68' };
    const odd = { lineId: 'txn_odd', paymentId: 'pi_odd', amount: '26.00', fee: '1.05' };
    await tab.goto(`/finance/reconciliation?tab=imports&from=${yesterday()}&to=${yesterday()}`);
    await importFile(tab, stripeReport([lost, odd]));

    await page.getByRole('link', { name: 'Controls' }).click();
    await page.getByRole('heading', { name: 'Controls' }).waitFor();
    const payments = 'Payments against provider reports';
    await runControl(page, payments);
    const light = page.getByRole('row').filter({ hasText: payments });
    await light.getByText('2 items').waitFor();
    await light.getByRole('link', { name: payments }).click();
    await page.locator('.nav-link[aria-current=page]').getByText('Controls').waitFor();
    await page.getByRole('link', { name: 'payment:stripe:pi_lost' }).click();
    const finding = page.getByRole('dialog', { name: 'Finding' });
    await finding.getByText('Missing here').waitFor();
    await finding.getByRole('link', { name: 'Go to payment reconciliation' }).click();

    await page.getByRole('heading', { name: 'Reconciliation' }).waitFor();
    await book(page, /pi_lost.*Missing here/);
    await book(page, /pi_odd.*Missing here/);
    await page.getByRole('row', { name: /pi_lost.*Matched/ }).waitFor();

    await page.getByRole('link', { name: 'Payments', exact: true }).click();
    await page.getByRole('tab', { name: 'Suspense' }).click();
    await page
      .getByRole('row', { name: /pi_lost.*Open/ })
      .getByRole('button', { name: 'Credit' })
      .click();
    const credit = page.getByRole('dialog', { name: 'Credit it to an account' });
    await credit.getByLabel(/^Account to credit/).fill(buyer.email);
    await page.getByRole('option', { name: buyer.email }).click();
    await say(credit, 'Credit', 'The buyer wrote to us.');
    await page.getByRole('row', { name: /pi_lost.*Credited/ }).waitFor();
    expect((await buyer.api.GET('/api/account')).data!.balance.main).toBe('10');

    await closeIn(tab, second);
    await page.getByRole('tab', { name: 'Trial balance' }).click();
    await page.getByRole('row', { name: /suspense:pay.*\$39\.00/ }).waitFor();
    await readInChinese(finance, new URL(page.url()).pathname);
  });

  it('downloads the books while looking at something else', async () => {
    const tab = await open(await person(relay, { roles: ['finance'] }));
    const { page } = tab;
    await tab.goto('/finance/exports');
    await page.getByRole('radio', { name: 'hledger journal' }).check();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export', exact: true }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/^tollgate-begin-.*\.journal$/);
    const books = await readFile(await download.path(), 'utf8');
    expect(books).toContain('topup:stripe:pi_lost');
    await page.getByRole('link', { name: 'Ledger' }).click();
    await page.getByRole('heading', { name: 'Trial balance' }).waitFor();
    await page.getByRole('link', { name: 'Periods and exports' }).click();
    await page.getByRole('link', { name: 'Exports', exact: true }).click();
    await page.getByRole('listitem').filter({ hasText: '.journal' }).getByText('Complete').waitFor();
  });

  it('goes from a revenue bar to its rows, and from a name to its parts', async () => {
    const customer = await relay.customer('10');
    for (const prompt of ['a lighthouse', 'a harbour'])
      await customer.send('/v1/images/generations', json({ model: 'vendora-imagine-image', prompt }));
    await caughtUp(relay);
    const tab = await open(await person(relay, { roles: ['finance'] }));
    const { page } = tab;
    await tab.goto('/finance/revenue');
    const figure = (name: string) => page.getByRole('figure', { name });
    const byModel = figure('Net credits over time, grouped by Model');
    await byModel.getByRole('table').getByRole('columnheader', { name: 'vendora-imagine-image' }).waitFor();
    await page.getByText('Nothing in the previous period').first().waitFor();
    await openLastBar(page, { figures: 'credits', url: '**within=day%3A**' });
    const rows = page.getByRole('table', { name: 'Broken down by' });
    await rows.getByRole('link', { name: 'vendora-imagine-image' }).waitFor();
    await page.getByRole('link', { name: 'Show all' }).click();
    await page.locator('.switch').getByText('Cash', { exact: true }).click();
    await page.getByRole('figure', { name: 'Recognized revenue over time, grouped by Type' }).waitFor();
    await expect.poll(() => page.getByText('Net credits').count()).toBe(0);
    await page.locator('.switch').getByText('Margin', { exact: true }).click();
    // What loads above may move the legend between the press and the release of a mouse.
    const byType = figure('Margin over time, grouped by Type');
    await byType.getByRole('button', { name: 'Image' }).press('Enter');
    await page.waitForURL('**within=family%3Aimage**');
    await page.getByText('Only Type: Image', { exact: true }).waitFor();
    await page.getByText('30 d', { exact: true }).click();
    await page.waitForURL('**from=**');
    await page.goBack();
    expect(await tab.barriers()).toEqual([]);
  });

  it('sets what a channel charges for chat tokens and for images', async () => {
    const tab = await open(await person(relay, { roles: ['finance'] }));
    const { page } = tab;
    await tab.goto('/finance/costs');
    await page.getByRole('button', { name: 'Set a cost' }).click();
    const dialog = page.getByRole('dialog', { name: 'Set the cost of a channel' });
    await dialog.getByLabel('Channel').fill('sandbox');
    await dialog.getByLabel('Model').fill('vendora-chat');
    await dialog.getByRole('combobox', { name: 'Billed per' }).click();
    await page.getByRole('option', { name: 'Million tokens' }).click();
    await dialog.getByRole('textbox', { name: 'Input', exact: true }).fill('1.5');
    await dialog.getByRole('textbox', { name: 'Cached input', exact: true }).fill('0.75');
    await dialog.getByRole('textbox', { name: 'Output', exact: true }).fill('6');
    await dialog.getByLabel('Image output').fill('x');
    await dialog.getByLabel('Reason').fill('As their list says.');
    await dialog.getByRole('button', { name: 'Set a cost' }).click();
    await dialog.getByText('Enter an amount, such as 0.012.').waitFor();
    await dialog.getByLabel('Image output').fill('32');
    await dialog.getByRole('button', { name: 'Set a cost' }).click();
    await page.getByRole('row', { name: /vendora-chat.*Output \$6.*Image output \$32/ }).waitFor();
  });

  it('imports a file of costs again once it was corrected', async () => {
    const tab = await open(await person(relay, { roles: ['finance'] }));
    const { page } = tab;
    await tab.goto('/finance/costs');
    const input = page.locator('input[type=file]');
    const buffer = Buffer.from('channel,model,unit_cost\nsandbox,a-model-too-many,0.2');
    await input.setInputFiles({ name: 'costs.csv', mimeType: 'text/csv', buffer });
    await page
      .getByRole('dialog', { name: 'Changes in this file' })
      .getByText(/1 have errors/)
      .waitFor();
    // Browsers report no change if the file that is chosen is the one that the field has.
    await expect.poll(() => input.inputValue()).toBe('');
  });

  it('adjusts an account because of a ticket, found by part of its subject', async () => {
    const customer = await person(relay);
    const ticket = {
      kind: 'billing',
      subject: 'Credits that went missing',
      body: 'Please have a look.',
    } as const;
    const { data } = await customer.api.POST('/api/tickets', { body: ticket });
    const { page } = await open(await person(relay, { roles: ['finance'] }));
    await page.goto('/finance/adjustments');
    await page.getByRole('button', { name: 'Adjust an account' }).click();
    const dialog = page.getByRole('dialog', { name: 'Adjust an account' });
    await dialog.getByLabel(/^Account/).fill(customer.email);
    await page.getByRole('option', { name: customer.email }).click();
    await dialog.getByLabel(/^Ticket/).fill('went missing');
    await page.getByRole('option', { name: data!.id }).click();
    await dialog.getByLabel(/^Credits/).fill('0.5');
    await say(dialog, 'Adjust an account', 'They did.');
    await page.getByText('Posted.').waitFor();
    expect((await customer.api.GET('/api/account')).data!.balance.main).toBe('0.5');
  });

  it('sees an adjustment in the list as soon as it is approved', async () => {
    const customer = await person(relay);
    const asked = { kind: 'billing', subject: 'A large correction', body: 'Please.' } as const;
    const { data: ticket } = await customer.api.POST('/api/tickets', { body: asked });
    const asking = await person(relay, { roles: ['finance'] });
    const { accountId } = customer;
    const large = {
      accountId,
      ticketId: ticket!.id,
      amount: '5000',
      reason: 'correction',
      note: 'Owed.',
    } as const;
    const { data } = await asking.api.POST('/api/finance/adjustments', {
      body: { ...large, requestId: crypto.randomUUID() },
    });
    expect(data!.state).toBe('pending');
    const tab = await open(await person(relay, { roles: ['finance'] }));
    const { page } = tab;
    const list = `/finance/adjustments?accountId=${accountId}`;
    await tab.goto(list);
    await expect.poll(() => page.getByRole('row', { name: /5,000/ }).count()).toBe(0);
    await tab.follow('/approvals');
    await page.getByRole('row', { name: /5,000/ }).getByRole('link').first().click();
    await page.getByRole('button', { name: 'Approve' }).click();
    const dialog = page.getByRole('dialog', { name: 'Approve this?' });
    await dialog.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('Approved and applied.').waitFor();
    await tab.follow(list);
    await page.getByRole('row', { name: /5,000/ }).waitFor();
  });

  it('offers for money in suspense only what may become of it', async () => {
    const paymentId = await inSuspense('paid_twice', 1_300n);
    await inSuspense('payment_disputed', -1_300n, paymentId);
    await inSuspense('other_amount', 1_300n);
    await inSuspense('unknown_refund', -300n);
    await inSuspense('dispute_won', 650n);
    const { page } = await open(await person(relay, { roles: ['finance'] }));
    await page.goto('/finance/payments?tab=suspense');
    const offered = (name: string) => page.getByRole('row', { name }).getByRole('button').allTextContents();
    await page.getByRole('row', { name: 'The order was already paid' }).waitFor();
    expect(await offered('The order was already paid')).toEqual(['Mark returned']);
    expect(await offered('Bank took back the payment')).toEqual([]);
    await page.getByText(`Return payment ${paymentId} first.`).waitFor();
    expect(await offered('Amount differs from the order')).toEqual(['Credit', 'Mark returned']);
    expect(await offered('Refund we did not request')).toEqual(['Mark returned', 'Book as cost']);
    expect(await offered('Dispute money that came back')).toEqual(['Mark returned', 'Book as income']);
    await page.getByRole('button', { name: 'Book as income' }).click();
    await say(page.getByRole('dialog', { name: 'Book as income' }), 'Book as income', 'The cost is undone.');
    await page.getByText('Booked against provider fees.').waitFor();
    await page
      .getByRole('row', { name: 'Dispute money that came back' })
      .getByText('Booked as income')
      .waitFor();
  });

  it('is hidden from other roles', async () => {
    const tab = await open(await person(relay, { roles: ['admin', 'support'] }));
    await tab.goto('/overview');
    await expect.poll(() => tab.page.getByRole('link', { name: 'Controls' }).count()).toBe(0);
    await tab.page.goto('/finance/books');
    await tab.page.getByText('You don’t have access to this page').waitFor();
  });
});

/** @returns its reference */
async function inSuspense(
  why: SuspenseWhy,
  amountMinor: bigint,
  paymentId: string | null = null,
): Promise<string> {
  const reference = newId();
  const money = { provider: 'sandbox', reference, orderId: null, currency: 'USD' } as const;
  await inTransaction(relay.fixture.billing, (client) =>
    bookSuspense(client, { ...money, why, amountMinor, paymentId }, 'USD'),
  );
  return reference;
}

/** Goes through the checklist, which names what is left in suspense. Two people agree to leave it for later. */
async function closeIn({ page }: Tab, second: Person): Promise<void> {
  await page.getByRole('link', { name: 'Periods' }).click();
  await page.getByRole('heading', { name: 'Periods' }).waitFor();
  await page.goto(`/finance/periods/close?end=${new Date().toISOString().slice(0, 10)}`);
  await page.getByRole('button', { name: 'Run the checklist' }).click();
  const item = page.getByRole('listitem').filter({ hasText: 'Money in suspense' });
  await item.getByText('1 finding').waitFor();
  const close = page.getByRole('button', { name: 'Close the books' });
  await expect.poll(() => close.isDisabled()).toBe(true);
  await item.getByRole('button', { name: 'Request a waiver' }).click();
  const asking = page.getByRole('dialog', { name: 'Close despite this?' });
  await say(asking, 'Request a waiver', 'The sender is being looked for.');
  await item.getByText('Waiting for a second person').waitFor();
  await agree(second);
  await page.getByRole('button', { name: 'Run it again' }).click();
  await item.getByText('Waived: The sender is being looked for.').waitFor();
  const note = page.getByLabel('Note (optional)');
  await note.fill('ok');
  await page.getByText('Write at least 3 characters, or nothing.').waitFor();
  await expect.poll(() => close.isDisabled()).toBe(true);
  await note.fill('All is well.');
  await page.getByRole('button', { name: 'Run it again' }).click();
  await staysOn(page, '/finance/periods');
  expect(await note.inputValue()).toBe('All is well.');
  await close.click();
  const sure = page.getByRole('dialog', { name: 'Close the books permanently?' });
  await sure.getByText('1 item is waived by two people.').waitFor();
  await sure.getByRole('button', { name: 'Close the books' }).click();
  await page.getByText('The books are closed').waitFor();
  await page.getByText('All is well.').waitFor();
}
