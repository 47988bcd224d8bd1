import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Browser } from 'playwright-core';
import type { Role } from '#identity/role.js';
import { parseAmount } from '#money/amount.js';
import { newId } from '#platform/ids.js';
import { newWebhookSecret } from '#platform/http/webhook-signature.js';
import { type Person, person } from '../support/console.js';
import { expectCleanLedger, json, type Relay, startRelay, until } from '../support/relay.js';
import { openBrowser, Tab } from './support/browser.js';
import { closeTabs, sparklinesOf, staysOn } from './support/steps.js';
import { customerAtWork, deadLetter, ticketOf } from './support/staff.js';

let relay: Relay;
let browser: Browser;
const tabs: Tab[] = [];

beforeAll(async () => {
  const environment = {
    RESELLER_THRESHOLD_TOKENS: '50',
    REFUND_LIMIT: '0.01',
    SANDBOX_PAYMENTS: 'true',
    REPORT_SECONDS: '0.5',
  };
  [relay, browser] = await Promise.all([startRelay(environment), openBrowser()]);
});
afterAll(async () => {
  await browser?.close();
  await relay?.close();
});
afterEach(async () => {
  await closeTabs(...tabs.splice(0));
  await expectCleanLedger(relay);
});

async function open(options: { as?: Person; expectedStatuses?: number[] } = {}): Promise<Tab> {
  const tab = await Tab.open(browser, relay, options);
  tabs.push(tab);
  return tab;
}

const staff = (...roles: Role[]) => person(relay, { roles });

describe('a price', () => {
  it('is proposed, previewed and confirmed by another administrator, and the marketplace follows', async () => {
    await customerAtWork(relay);
    const proposing = await open({ as: await staff('admin') });
    const { page } = proposing;
    await proposing.goto('/admin/prices');
    await page.getByRole('link', { name: 'Propose a change: vendora-imagine-image' }).click();
    await page.getByRole('heading', { name: 'Propose new prices' }).waitFor();
    await page.getByText('In force: 0.02 credits per call').waitFor();
    await page.getByLabel('Price per call').fill('three cents');
    await page.getByRole('button', { name: 'Preview changes' }).click();
    await page.getByText('Enter a decimal, such as 0.02.').waitFor();
    await page.getByLabel('Price per call').fill('0.03');
    await page.getByLabel('Note').fill('The vendor asks more.');
    await page.getByRole('button', { name: 'Preview changes' }).click();
    await page.getByRole('heading', { name: 'Price proposal' }).waitFor();
    await page
      .getByRole('row', { name: /vendora-imagine-image.*0\.02 credits.*0\.03 credits.*\+50/ })
      .waitFor();
    const preview = page.getByRole('table', { name: 'Cost of requests, by model and group' });
    await preview
      .getByRole('row', {
        name: /vendora-imagine-image Vendora-Main 1 1 0\.04 credits 0\.06 credits \+0\.02 credits/,
      })
      .waitFor();

    const deciding = await open({ as: await staff('admin') });
    await deciding.goto('/admin/prices?tab=proposals&state=open');
    await deciding.page.getByRole('link', { name: 'The vendor asks more.' }).click();
    await deciding.page.getByRole('button', { name: 'Confirm the changes' }).click();
    const dialog = deciding.page.getByRole('dialog');
    await dialog.getByText('1 change takes effect: immediately.').waitFor();
    await dialog.getByRole('button', { name: 'Confirm the changes' }).click();
    await deciding.page.getByText('Confirmed', { exact: true }).waitFor();
    await deciding.page.getByRole('link', { name: 'vendora-imagine-image' }).click();
    await deciding.page.getByRole('heading', { name: 'Price of vendora-imagine-image' }).waitFor();
    await deciding.page
      .getByRole('listitem')
      .filter({ hasText: /List price.*In force.*0\.03 credits per call/ })
      .waitFor();

    const visiting = await open();
    await visiting.goto('/marketplace/vendora-imagine-image');
    await visiting.page.getByRole('main').getByText('0.03 credits').first().waitFor();
  });

  it('from a vendor is proposed as its list price with a margin, and the model is added switched off', async () => {
    const tab = await open({ as: await staff('admin') });
    const { page } = tab;
    await tab.goto('/admin/prices');
    await page.getByRole('link', { name: 'Vendor prices' }).click();
    const row = page.getByRole('row', { name: /flux-kontext-pro/ });
    await row.getByText('Not added').waitFor();
    await page.getByRole('combobox', { name: 'Vendor' }).first().click();
    await page.getByRole('option', { name: 'black-forest-labs' }).click();
    const margin = page.getByLabel('Margin (%)');
    await margin.fill('a lot');
    await page.getByRole('button', { name: 'Propose', exact: true }).click();
    await page.getByText('Enter a percentage, such as 20 or 12.5.').waitFor();
    await margin.fill('25');
    await page.getByRole('button', { name: 'Propose', exact: true }).click();
    await page.getByText(/Unchanged: 0 .* not in this installation: 4/).waitFor();
    await page.getByLabel('Add models that you don’t have yet').check();
    await page.getByRole('button', { name: 'Propose', exact: true }).click();
    await page.getByRole('heading', { name: 'Price proposal' }).waitFor();
    await page.getByRole('row', { name: /flux-kontext-pro.*0\.05 credits/ }).waitFor();
    await tab.goto('/admin/prices/vendors?text=kontext-pro');
    await row.getByText('No price', { exact: true }).first().waitFor();
    await row.getByRole('link', { name: 'Open proposal' }).waitFor();
  });

  it('that another administrator changed meanwhile cannot be confirmed before it is revised', async () => {
    const tab = await open({ as: await staff('admin') });
    const { page } = tab;
    await tab.goto('/admin/prices/propose?group=Public-Relay&kind=multiplier');
    await page.getByLabel('Multiplier').last().fill('1.5');
    await page.getByRole('button', { name: 'Preview changes' }).click();
    await page.getByRole('heading', { name: 'Price proposal' }).waitFor();
    const { api } = await staff('admin');
    const change = { kind: 'multiplier', group: 'Public-Relay', multiplier: '1.2' } as const;
    const { data } = await api.POST('/api/admin/price-proposals', { body: { changes: [change] } });
    const params = { path: { proposalId: data!.id } };
    await api.POST('/api/admin/price-proposals/{proposalId}/confirm', { params, body: { revision: 1 } });
    await page.reload();
    await page.getByText('These prices changed after the proposal was made').waitFor();
    await expect
      .poll(() => page.getByRole('button', { name: 'Confirm the changes' }).isDisabled())
      .toBe(true);
    await page.getByRole('link', { name: 'Update it to current prices' }).click();
    await page.getByRole('button', { name: 'Preview changes again' }).click();
    await page.getByRole('row', { name: /Public-Relay.*× 1\.2.*× 1\.5.*\+25/ }).waitFor();
    await page.getByRole('button', { name: 'Withdraw the proposal' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Withdraw the proposal' }).click();
    await page.getByText('Withdrawn', { exact: true }).waitFor();
  });

  it('of a model has rates, which are added and removed row by row, and shown as what they are', async () => {
    const tab = await open({ as: await staff('admin') });
    const { page } = tab;
    await tab.goto('/admin/prices/propose?model=vendora-imagine-edit');
    const field = (name: string, row: number) => page.getByLabel(`${name} of rate ${row}`);
    await page.getByRole('button', { name: 'Advanced' }).click();
    for (let row = 1; row <= 3; row += 1) await page.getByRole('button', { name: 'Add a rate' }).click();
    await field('Quality', 1).fill('High');
    await field('Size', 1).fill('1024x1024');
    await field('List price', 1).fill('0.167');
    await field('Quality', 2).fill('low');
    await field('Quality', 3).fill('high');
    await field('List price', 3).fill('0.2');
    await page.getByRole('button', { name: 'Remove rate 2' }).click();
    await page.getByRole('button', { name: 'Preview changes' }).click();
    await page.getByRole('heading', { name: 'Price proposal' }).waitFor();
    await page
      .getByRole('row', {
        name: /size 1024x1024, quality high: 0\.167.*quality high: 0\.2.*all other requests: 0\.02/,
      })
      .waitFor();
    await page.getByText('The list price of vendora-imagine-edit has different rates than before.').waitFor();
  });

  it('of a second of video has rates by sound and by length', async () => {
    const tab = await open({ as: await staff('admin') });
    const { page } = tab;
    await tab.goto('/admin/prices/propose?model=vendora-imagine-video');
    const field = (name: string, row: number) => page.getByLabel(`${name} of rate ${row}`);
    await page.getByRole('button', { name: 'Advanced' }).click();
    for (let row = 1; row <= 2; row += 1) await page.getByRole('button', { name: 'Add a rate' }).click();
    await field('Audio', 1).fill('Off');
    await field('List price', 1).fill('0.02');
    await field('Seconds', 2).fill('10');
    await field('List price', 2).fill('0.04');
    await page.getByRole('button', { name: 'Preview changes' }).click();
    await page.getByRole('heading', { name: 'Price proposal' }).waitFor();
    await page
      .getByRole('row', { name: /audio off: 0\.02.*10 seconds: 0\.04.*all other requests: 0\.05/ })
      .waitFor();
  });

  it('from a file is compared with what is in force, and differences become a proposal', async () => {
    const tab = await open({ as: await staff('admin') });
    const { page } = tab;
    await tab.goto('/admin/prices/import');
    const rows = [
      { kind: 'price', model: 'vendora-imagine-video', price: { unitPrice: '0.06' } },
      { kind: 'multiplier', group: 'Vendora-Main', multiplier: '1' },
    ];
    const choose = (name: string, text: string) =>
      page
        .locator('input[type=file]')
        .setInputFiles({ name, mimeType: 'application/json', buffer: Buffer.from(text) });
    await choose('prices.json', '{"rows": "none"}');
    await page.getByRole('button', { name: 'Compare' }).click();
    await page.getByText('Must be a JSON document with a list of rows').waitFor();
    await choose('same.json', JSON.stringify({ rows: rows.slice(1) }));
    await page.getByRole('button', { name: 'Compare' }).click();
    await page.getByText('Changed: 0 · new: 0 · the same: 1 · refused: 0').waitFor();
    await tab.follow('/admin/prices');
    expect(new URL(page.url()).pathname).toBe('/admin/prices');
    await tab.follow('/admin/prices/import');
    await choose('prices.json', JSON.stringify({ rows }));
    await page.getByRole('button', { name: 'Compare' }).click();
    await page.getByText('Changed: 1 · new: 0 · the same: 1 · refused: 0').waitFor();
    await page
      .getByRole('row', { name: /vendora-imagine-video.*0\.05 credits.*0\.06 credits.*\+20/ })
      .waitFor();
    await staysOn(page, '/admin/prices');
    await page.getByRole('button', { name: 'Propose 1 change' }).click();
    await page.getByRole('heading', { name: 'Price proposal' }).waitFor();
    await page.getByText('prices.json').waitFor();
  });
});

describe('a ticket', () => {
  it('for the reseller rate is judged by its figures and granted, and the next top-up costs 1.2', async () => {
    const { owner } = await customerAtWork(relay);
    const asking = await open({ as: owner });
    await asking.goto('/tickets/new?kind=reseller_rate');
    await asking.page.getByLabel('Subject').fill('The rate for resellers');
    await asking.page.getByLabel('Message').fill('We sell to studios.');
    await asking.page.getByRole('button', { name: 'Send to support' }).click();
    await asking.page.getByText('Waiting for support').waitFor();

    const support = await open({ as: await staff('support') });
    await support.goto('/support/tickets');
    await support.page.getByRole('link', { name: 'The rate for resellers' }).click();
    await support.page.getByText('Volume reached').waitFor();
    await support.page.getByText('Only administrators can grant the rate.').waitFor();
    await support.page.getByText('Note', { exact: true }).click();
    await support.page.getByLabel('Note for staff').fill('The figures are in order.');
    await support.page.getByRole('button', { name: 'Save the note' }).click();
    await support.page.getByRole('list', { name: 'Conversation' }).getByText('in order').waitFor();

    const admin = await open({ as: await staff('admin') });
    await admin.goto(new URL(support.page.url()).pathname);
    await admin.page.getByRole('button', { name: 'Grant reseller rate' }).click();
    const dialog = admin.page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Grant reseller rate' }).click();
    await admin.page.getByText('One credit currently costs $1.20.').waitFor();

    await asking.goto('/wallet?credits=10');
    await asking.page.getByRole('button', { name: 'Pay $12.00' }).waitFor();
  });

  it('refunds above the limit when a colleague agrees', async () => {
    const { owner, chargeId } = await customerAtWork(relay);
    const { data: before } = await owner.api.GET('/api/account');
    const body = { kind: 'refund', subject: 'Blank picture', body: 'It is all black.', chargeId } as const;
    const ticketId = await ticketOf(owner, body);
    const asking = await open({ as: await staff('support'), expectedStatuses: [409] });
    const { page } = asking;
    await asking.goto(`/support/tickets/${ticketId}`);
    await page.getByRole('button', { name: 'Refund a charge' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Still refundable:').waitFor();
    await dialog.getByLabel('Amount').fill('7');
    await dialog.getByLabel('Reason').fill('The picture was blank.');
    await dialog.getByRole('button', { name: 'Refund', exact: true }).click();
    await dialog.getByText(/can still be refunded/).waitFor();
    await dialog.getByLabel('Amount').fill('0.02');
    await dialog.getByRole('button', { name: 'Refund', exact: true }).click();
    await page.getByText('A colleague has to approve it under Approvals').waitFor();
    await asking.goto('/approvals');
    await page.getByRole('link', { name: 'Refund of a charge' }).first().click();
    await page.getByText('You requested this, so another person has to decide.').waitFor();

    const deciding = await open({ as: await staff('support') });
    await deciding.goto(asking.page.url().replace(relay.consoleUrl, ''));
    await deciding.page.getByRole('button', { name: 'Approve' }).click();
    await deciding.page
      .getByRole('dialog', { name: 'Approve this?' })
      .getByRole('button', { name: 'Approve' })
      .click();
    await deciding.page.getByText('Approved and applied.').waitFor();
    const { data: after } = await owner.api.GET('/api/account');
    expect(parseAmount(after!.balance.main) - parseAmount(before!.balance.main)).toBe(parseAmount('0.02'));
  });
});

describe('names', () => {
  it('replace IDs wherever staff look, and the ID can still be copied', async () => {
    const { owner } = await customerAtWork(relay);
    await ticketOf(owner, { kind: 'question', subject: 'A question', body: 'How?' });
    const tab = await open({ as: await staff('support', 'finance', 'admin') });
    const { page } = tab;
    await tab.goto('/support/tickets');
    const name = page.getByRole('link', { name: 'The north studio' }).last();
    const card = page.getByText(owner.accountId, { exact: true });
    // The list may still move under the pointer.
    await until('the id to appear beside the name', async () => {
      await page.mouse.move(0, 0);
      await name.hover();
      return card.waitFor({ timeout: 2_000 }).then(
        () => true,
        () => false,
      );
    });
    await page.getByRole('button', { name: 'Copy: ID' }).click();
    await until(
      'the id to be copied',
      async () => (await page.evaluate('navigator.clipboard.readText()')) === owner.accountId,
    );
    expect(new URL(page.url()).pathname).toBe('/support/tickets');
    await tab.goto(`/finance/ledger-accounts?code=customer:${owner.accountId}`);
    await page.getByText(owner.accountId, { exact: true }).waitFor();
    await tab.goto(`/finance/payments?accountId=${owner.accountId}`);
    await page
      .getByRole('row', { name: /The north studio/ })
      .first()
      .waitFor();
    const asked: string[] = [];
    page.on(
      'request',
      (request) => request.url().includes('/api/support/names') && asked.push(request.url()),
    );
    await tab.goto('/support/tickets');
    await page.getByRole('link', { name: 'The north studio' }).last().waitFor();
    // However many rows there are, their names are one request.
    expect(asked).toHaveLength(1);
  });
});

describe('an account', () => {
  it('that is frozen cannot call, and its owner reads why; then it calls again', async () => {
    const { owner, customer } = await customerAtWork(relay);
    const call = () =>
      customer.send('/v1/images/generations', json({ model: 'vendora-imagine-image', prompt: 'a gate' }));
    const tab = await open({ as: await staff('support') });
    const { page } = tab;
    await tab.goto(`/support/accounts?query=${owner.email}`);
    await page.getByRole('link', { name: 'The north studio' }).click();
    await page.getByRole('button', { name: 'Freeze the account' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Freeze the account' }).click();
    await dialog.getByText('Enter a reason.').waitFor();
    await dialog.getByLabel('Reason').fill('The card was stolen.');
    await dialog.getByRole('button', { name: 'Freeze the account' }).click();
    await page.getByText('Frozen: The card was stolen.').waitFor();
    const refused = await call();
    expect(refused.status).toBe(403);
    expect(await refused.json()).toMatchObject({ error: { code: 'account_frozen' } });
    const theirs = await open({ as: owner });
    await theirs.goto('/overview');
    await theirs.page.getByText('The card was stolen.').waitFor();

    await page.getByRole('button', { name: 'Lift the freeze' }).click();
    await dialog.getByLabel('Note').fill('The bank confirmed it.');
    await dialog.getByRole('button', { name: 'Lift the freeze' }).click();
    await page.getByText('Active', { exact: true }).waitFor();
    expect((await call()).status).toBe(200);
  });

  it('is seen as its owner sees it, without anything to change, until the view ends', async () => {
    const { owner } = await customerAtWork(relay);
    await owner.api.PUT('/api/account/billing-details', {
      body: { name: 'North Studio Ltd.', address: null, taxId: null },
    });
    const tab = await open({ as: await staff('support'), expectedStatuses: [403] });
    const { page } = tab;
    await tab.goto(`/support/accounts/${owner.accountId}`);
    await page.getByRole('button', { name: 'View as customer' }).click();
    await page.getByLabel('Reason').fill('A question about a call.');
    await page.getByRole('button', { name: 'View their console' }).click();
    await page.getByText('Viewing as The north studio').waitFor();
    await page.getByRole('heading', { name: 'Home', exact: true }).waitFor();
    await page.getByRole('row', { name: /vendora-imagine-image.*Charged/ }).waitFor();
    const pages = page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
    const names = await pages.allTextContents();
    expect(names).not.toContain('Ticket queue');
    for (const name of names) {
      await pages.filter({ hasText: name }).click();
      await pages.filter({ hasText: name }).and(page.locator('.active')).waitFor();
      await tab.settled();
      expect([name, await page.getByText('Something went wrong').count()]).toEqual([name, 0]);
    }
    await tab.goto('/wallet');
    await expect.poll(() => page.getByRole('button', { name: /^Pay/ }).count()).toBe(0);
    await tab.goto('/wallet?tab=details');
    await page.getByText('North Studio Ltd.').waitFor();
    await tab.goto('/overview');
    await expect.poll(() => page.getByRole('link', { name: 'Add credits' }).count()).toBe(0);
    await tab.goto('/playground');
    await page.getByText('You’re viewing this account read-only').waitFor();
    await tab.goto('/webhooks');
    await page.getByLabel(/^Email me when balance drops below/).fill('5');
    await page.getByRole('button', { name: 'Save alerts' }).click();
    await page.getByText('You’re viewing this account read-only').waitFor();
    await page.getByRole('button', { name: 'Exit' }).click();
    await page.getByRole('heading', { name: 'The north studio' }).waitFor();
    await page.getByRole('link', { name: 'Ticket queue' }).waitFor();
    await page.getByText('Viewing as').waitFor({ state: 'detached' });
  });
});

describe('a view of an account', () => {
  it('ends by itself, and the page shows the person’s own account', async () => {
    const { owner } = await customerAtWork(relay);
    const viewer = await staff('support');
    const params = { path: { accountId: owner.accountId } };
    await viewer.api.POST('/api/support/accounts/{accountId}/view', {
      params,
      body: { reason: 'A question of theirs.' },
    });
    const tab = await open({ as: viewer });
    const { page } = tab;
    await page.clock.install();
    await tab.goto('/overview');
    await page.locator('data[value^="19.9"]').first().waitFor();
    await relay.fixture.billing.query('UPDATE sessions SET viewed_until = now() WHERE user_id = $1', [
      viewer.userId,
    ]);
    await page.clock.fastForward('24:00:00');
    await page.getByText('Viewing as').waitFor({ state: 'detached' });
    await page.getByRole('heading', { name: 'Get started' }).waitFor();
    await expect.poll(() => page.locator('data[value^="19.9"]').count()).toBe(0);
  });
});

describe('an administrator', () => {
  it('drains a channel, and sees it in the audit log with before and after', async () => {
    const tab = await open({ as: await staff('admin') });
    const { page } = tab;
    await tab.goto('/admin/channels');
    await page.getByRole('link', { name: 'sandbox', exact: true }).click();
    await page.getByRole('button', { name: 'Drain and switch off' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Drain and switch off' }).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await page.getByText('Off', { exact: true }).waitFor();
    await tab.goto('/admin/audit-log?subject=channel:sandbox');
    await page.getByRole('table').getByRole('link').first().click();
    await page
      .getByRole('dialog', { name: 'Channel changed' })
      .getByRole('row', { name: /enabled true false/ })
      .waitFor();
    await tab.goto('/admin/channels/sandbox');
    await page.getByRole('button', { name: 'Switch on' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Switch on' }).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Drain and switch off' }).waitFor();
  });

  it('stores the webhook secret of a channel, and sees where its vendor sends webhooks', async () => {
    await relay.fixture.owner.query(
      `INSERT INTO channels (id, protocol, base_url, api_key, enabled)
       VALUES ('announcing', 'replicate', 'https://api.example.com', 'a-key', false)`,
    );
    const tab = await open({ as: await staff('admin') });
    const { page } = tab;
    await tab.goto('/admin/channels/announcing?tab=settings');
    const field = page.getByLabel('Webhook secret');
    await page.getByText('/vendor-webhooks/announcing').waitFor();
    await field.fill('not-a-secret');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Enter the whole secret.').waitFor();
    await field.fill(newWebhookSecret());
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('A secret is stored.').waitFor();
    await expect.poll(() => field.inputValue()).toBe('');
  });

  it('adds an alias of a model with limits that the server checks', async () => {
    const tab = await open({ as: await staff('admin'), expectedStatuses: [400] });
    const { page } = tab;
    await tab.goto('/admin/models?new=alias');
    const drawer = page.getByRole('dialog');
    await drawer.getByRole('textbox', { name: 'Model', exact: true }).fill('vendora-boat');
    await drawer.getByLabel('Alias of').click();
    await page.getByRole('option', { name: 'vendora-imagine-video', exact: true }).click();
    await drawer.getByLabel('Min seconds').fill('9');
    await drawer.getByLabel('Max seconds').fill('5');
    await drawer.getByRole('button', { name: 'Add the alias' }).click();
    await drawer.getByText(/inSeconds|axSeconds/).waitFor();
    await drawer.getByLabel('Max seconds').fill('10');
    await drawer.getByRole('button', { name: 'Add the alias' }).click();
    await page.getByRole('row', { name: /vendora-boat vendora-imagine-video Video/ }).waitFor();
  });

  it('switches a model off, and the marketplace follows at once', async () => {
    const tab = await open({ as: await staff('admin') });
    const { page } = tab;
    const market = '/marketplace?text=vendora-imagine-video-1.5-preview';
    // Nothing is read again because of its age.
    await page.clock.setFixedTime(Date.now());
    await tab.goto(market);
    await page.getByRole('link', { name: 'vendora-imagine-video-1.5-preview' }).waitFor();
    await tab.follow('/admin/models?model=vendora-imagine-video-1.5-preview');
    await page.getByRole('switch', { name: /^On/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByText('vendora-imagine-video-1.5-preview saved.').waitFor();
    await tab.follow(market);
    await page.getByText('No models match your filters').waitFor();
  });

  it('routes a model by cost, and shows in which order its channels are tried', async () => {
    await addCheaper('imgmodel-4');
    const tab = await open({ as: await staff('admin') });
    const { page } = tab;
    await tab.goto('/admin/models?model=imgmodel-4');
    const drawer = page.getByRole('dialog');
    const order = drawer.getByRole('table', { name: 'Channels in the order they are tried' });
    await drawer.getByText('By priority, then by weight.').waitFor();
    await order.getByRole('row').nth(2).getByRole('link', { name: 'cheaper' }).waitFor();
    await expect.poll(() => order.getByRole('link').allTextContents()).toEqual(['sandbox', 'cheaper']);
    await drawer.getByLabel('Routing').click();
    await page.getByRole('option', { name: 'Lowest cost first' }).click();
    await drawer.getByRole('button', { name: 'Save' }).click();
    await page.getByText('imgmodel-4 saved.').waitFor();
    await tab.goto('/admin/models?model=imgmodel-4');
    await drawer.getByText('By priority, then by the lowest upstream cost.').waitFor();
    await order.getByRole('row').nth(2).getByRole('link', { name: 'sandbox' }).waitFor();
    await expect.poll(() => order.getByRole('link').allTextContents()).toEqual(['cheaper', 'sandbox']);
  });

  /** A second channel for a model, served by the sandbox, with less weight and a lower cost. */
  async function addCheaper(model: string): Promise<void> {
    const { owner } = relay.fixture;
    await owner.query(
      `INSERT INTO channels (id, protocol, base_url, api_key, allow_private_address, weight)
       SELECT 'cheaper', protocol, base_url, 'sandbox-key', allow_private_address, 1 FROM channels WHERE id = 'sandbox'`,
    );
    await owner.query(`UPDATE channels SET weight = 2 WHERE id = 'sandbox'`);
    await owner.query(
      `INSERT INTO channel_groups SELECT 'cheaper', group_name FROM channel_groups WHERE channel_id = 'sandbox'`,
    );
    await owner.query(
      `INSERT INTO channel_models SELECT 'cheaper', model_id, upstream_model FROM channel_models
       WHERE channel_id = 'sandbox' AND model_id = $1`,
      [model],
    );
    const cost = {
      channel: 'cheaper',
      model,
      cost: { unitCost: '0.001' },
      reason: 'a test',
      requestId: newId(),
    };
    const answer = await (await staff('finance')).send('/api/finance/upstream-costs', json(cost));
    expect(answer.status).toBe(201);
  }

  it('goes from a name in the chart of all work to its page', async () => {
    await customerAtWork(relay);
    const admin = await staff('admin');
    const day = (later: number) => new Date(Date.now() + later * 86_400_000).toISOString().slice(0, 10);
    const params = { query: { from: day(-1), to: day(2) } };
    await until('the work to be counted', async () => {
      const { data } = await admin.api.GET('/api/admin/workload/chart', { params });
      return data!.total.charges > 0;
    });
    const tab = await open({ as: admin });
    await tab.goto('/admin');
    const row = tab.page
      .getByRole('table', { name: 'Breakdown' })
      .getByRole('row', { name: /^vendora-imagine-image/ });
    const [charges = [], failures = []] = await sparklinesOf(row);
    expect([charges.length, Math.max(...charges), failures.length]).toEqual([30, 1, 30]);
    const chart = tab.page.getByRole('figure', { name: /^Requests charged over time/ });
    await chart.getByRole('button', { name: 'vendora-imagine-image' }).click();
    await tab.page.waitForURL('**/admin/models?model=vendora-imagine-image');
  });

  it('replays a dead letter once', async () => {
    const { customer } = await customerAtWork(relay);
    const letterId = await deadLetter(relay, customer.accountId);
    const tab = await open({ as: await staff('admin') });
    const { page } = tab;
    await tab.goto('/operator/system');
    await page.getByText('Dead letters waiting: 1.').waitFor();
    await tab.goto(`/operator/dead-letters?letter=${letterId}`);
    await page.getByRole('button', { name: 'Replay', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Replay this message?' });
    await dialog.getByText('It is published once.').waitFor();
    await dialog.getByRole('button', { name: 'Replay', exact: true }).click();
    await page.getByRole('dialog', { name: 'Dead letter' }).getByText('Replayed: You').waitFor();
    await page.getByRole('button', { name: 'Replay', exact: true }).first().waitFor({ state: 'hidden' });
  });
});

interface ListedPage {
  path: string;
  /** The heading, and the text of its tab, or of its link if the page has its own. */
  name: string;
  /** The workspace, and the link that the page shares with others. */
  at: readonly [workspace: string, link?: string];
  roles: Role[];
}

const PAGES: ListedPage[] = [
  { path: '/support/accounts', name: 'Accounts', at: ['Support'], roles: ['support', 'admin'] },
  { path: '/support/tickets', name: 'Ticket queue', at: ['Support'], roles: ['support', 'admin'] },
  { path: '/approvals', name: 'Approvals', at: ['Support'], roles: ['support', 'admin'] },
  { path: '/approvals', name: 'Approvals', at: ['Finance'], roles: ['finance'] },
  { path: '/finance/trial-balance', name: 'Trial balance', at: ['Finance', 'Ledger'], roles: ['finance'] },
  { path: '/finance/costs', name: 'Upstream costs', at: ['Finance', 'Revenue'], roles: ['finance'] },
  { path: '/admin/prices', name: 'Prices', at: ['Admin'], roles: ['admin'] },
  { path: '/admin/models', name: 'Models and aliases', at: ['Admin', 'Catalog'], roles: ['admin'] },
  { path: '/admin/groups', name: 'Groups', at: ['Admin', 'Catalog'], roles: ['admin'] },
  { path: '/admin/channels', name: 'Channels', at: ['Admin', 'Catalog'], roles: ['admin'] },
  { path: '/admin/people', name: 'People and roles', at: ['Admin'], roles: ['admin'] },
  { path: '/admin/audit-log', name: 'Audit log', at: ['Admin'], roles: ['admin'] },
  { path: '/operator/system', name: 'Live system', at: ['Admin', 'Operations'], roles: ['admin'] },
  { path: '/operator/dead-letters', name: 'Dead letters', at: ['Admin', 'Operations'], roles: ['admin'] },
];

const WORKSPACES: Record<Role, string[]> = {
  user: [],
  support: ['My account', 'Support'],
  finance: ['My account', 'Finance'],
  admin: ['My account', 'Support', 'Admin'],
};
const HOMES: Record<Role, string> = {
  user: 'Home',
  support: 'Ticket queue',
  finance: 'Finance home',
  admin: 'Admin home',
};

describe('workspaces', () => {
  it.each(Object.entries(HOMES) as [Role, string][])('begin at their home: %s at %s', async (role, home) => {
    const tab = await open({ as: await staff(role) });
    const { page } = tab;
    await tab.goto('/');
    await page.getByRole('heading', { level: 1, name: home, exact: true }).waitFor();
    await tab.settled();
    const switcher = page.getByRole('button', { name: /^Workspace: / });
    if (WORKSPACES[role].length === 0) return expect.poll(() => switcher.count()).toBe(0);
    await switcher.click();
    await page.getByRole('menuitem').first().waitFor();
    await expect.poll(() => page.getByRole('menuitem').allTextContents()).toEqual(WORKSPACES[role]);
    await page.getByRole('menuitem', { name: 'My account' }).click();
    await page.getByRole('heading', { level: 1, name: 'Home', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Workspace: My account' }).waitFor();
  });

  it('show what is waiting, and stay selected if a page belongs to two of them', async () => {
    const { owner } = await customerAtWork(relay);
    await ticketOf(owner, { kind: 'question', subject: 'A question', body: 'Where is it?' });
    const tab = await open({ as: await staff('support', 'finance') });
    const { page } = tab;
    await tab.goto('/support/accounts');
    const queue = page
      .getByRole('navigation', { name: 'Pages' })
      .getByRole('link', { name: /^Ticket queue/ });
    await queue.filter({ hasText: /^Ticket queue\d+$/ }).waitFor();
    for (const [path, name] of [
      ['/finance', 'Finance'],
      ['/support/accounts', 'Support'],
    ] as const) {
      await tab.goto(path);
      await page
        .getByRole('link', { name: /^Approvals/ })
        .first()
        .click();
      await page.getByRole('heading', { level: 1, name: 'Approvals' }).waitFor();
      await page.getByRole('button', { name: `Workspace: ${name}` }).waitFor();
    }
  });
});

describe('what a role may not do', () => {
  it.each([['user'], ['support'], ['finance'], ['admin']] as [Role][])(
    'is not shown to %s, and its address opens nothing',
    async (role) => {
      // A 403 would be reported as a problem: everything shown is allowed, and nothing else is requested.
      const tab = await open({ as: await staff(role) });
      const { page } = tab;
      await tab.goto('/overview');
      const entries = page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
      for (const { name, at } of PAGES.filter(({ roles }) => roles.includes(role))) {
        const [workspace, link = name] = at;
        await page.getByRole('button', { name: /^Workspace: / }).click();
        await page.getByRole('menuitem', { name: workspace }).click();
        await entries.and(page.getByRole('link', { name: new RegExp(`^${link}`) })).click();
        if (link !== name) await page.getByRole('navigation', { name: link }).getByText(name).click();
        await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
        await tab.settled();
      }
      const allowed = PAGES.filter(({ roles }) => roles.includes(role)).map(({ path }) => path);
      const refused = PAGES.filter((each) => !allowed.includes(each.path));
      // The first one also by its address.
      await tab.goto(refused[0]!.path);
      for (const { path, at } of refused) {
        await tab.follow(path);
        await page.getByRole('heading', { name: 'You don’t have access to this page' }).waitFor();
        await entries.first().waitFor();
        expect([path, WORKSPACES[role].includes(at[0])]).toEqual([path, false]);
      }
    },
  );
});
