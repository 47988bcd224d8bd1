import { newId } from '#platform/ids.js';
import { type Person, person } from '../support/console.js';
import { type Relay, until } from '../support/relay.js';
import type { Tab } from './support/browser.js';
import { describePages } from './support/pages.js';
import { confirmed, customerAtWork, deadLetter, proposal, ticketOf } from './support/staff.js';

let work: ReturnType<typeof customerAtWork> | undefined;
const workOf = (relay: Relay) => (work ??= customerAtWork(relay));

/** A price with a past and a future, and a pending proposal. */
async function prices(relay: Relay, viewer: Person | undefined): Promise<void> {
  const price = (unitPrice: string) =>
    ({ kind: 'price', model: 'imgmodel-4', price: { unitPrice } }) as const;
  const now = await proposal(viewer!, [price('0.04')], { note: 'The vendor asks more since this month.' });
  await confirmed(relay, now);
  const nextYear = new Date(Date.now() + 30 * 24 * 3_600_000).toISOString();
  const later = await proposal(viewer!, [price('0.035')], { effectiveAt: nextYear, note: 'Summer' });
  await confirmed(relay, later);
}

async function openProposal(relay: Relay, viewer: Person | undefined): Promise<string> {
  await workOf(relay);
  const id = await proposal(
    viewer!,
    [
      { kind: 'price', model: 'vendora-imagine-image', price: { unitPrice: '0.03' } },
      { kind: 'price', model: 'vendora-chat', price: { input: '2', cachedInput: '0.5', output: '9' } },
      { kind: 'multiplier', group: 'Vendora-Main', multiplier: '1.1' },
    ],
    { note: 'Prices of the autumn' },
  );
  return `/admin/prices/proposals/${id}`;
}

const FILE = `kind,subject,unit,unit_price,input_price,cached_input_price,output_price,multiplier,rule,withdrawn
price,vendora-imagine-video,second,0.06,,,,,,
price,vendora-imagine-image,call,0.05,,,,,,
price,no-such-model,call,0.05,,,,,,
`;

async function compareFile({ page }: Tab): Promise<void> {
  const buffer = Buffer.from(FILE);
  await page.locator('input[type=file]').setInputFiles({ name: 'prices.csv', mimeType: 'text/csv', buffer });
  await page.locator('form button[type=submit]').click();
  await page.getByText('no-such-model').first().waitFor();
}

async function approval(relay: Relay, viewer: Person | undefined): Promise<string> {
  const { owner, chargeId } = await workOf(relay);
  const colleague = await person(relay, { roles: ['support'] });
  const body = { kind: 'refund', subject: 'Blank picture', body: 'It is all black.', chargeId } as const;
  const params = { path: { ticketId: await ticketOf(owner, body) } };
  const refund = { requestId: newId(), chargeId, amount: '0.02', reason: 'The picture was blank.' };
  await colleague.api.POST('/api/support/tickets/{ticketId}/refunds', { params, body: refund });
  const { data } = await viewer!.api.GET('/api/approvals', { params: { query: { state: 'pending' } } });
  return `/approvals?approval=${data!.items[0]!.id}`;
}

async function resellerTicket(relay: Relay, viewer: Person | undefined): Promise<string> {
  const { owner } = await workOf(relay);
  const body = 'We sell to studios.\nTwo of them call all day.';
  const ticketId = await ticketOf(owner, { kind: 'reseller_rate', subject: 'Rate for resellers', body });
  const params = { path: { ticketId } };
  const path = '/api/support/tickets/{ticketId}/messages';
  await viewer!.api.POST(path, { params, body: { body: 'Thank you, we look into it.' } });
  await viewer!.api.POST(path, { params, body: { body: 'The volume looks real.', isNote: true } });
  return `/support/tickets/${ticketId}`;
}

async function refundTicket(relay: Relay): Promise<string> {
  const { owner, chargeId } = await workOf(relay);
  const body = { kind: 'refund', subject: 'Wrong picture', body: 'I asked for a boat.', chargeId } as const;
  return `/support/tickets/${await ticketOf(owner, body)}`;
}

async function reports(_relay: Relay, viewer: Person | undefined): Promise<void> {
  await until('every program to report', async () => {
    const { data } = await viewer!.api.GET('/api/admin/programs');
    return data!.items.length >= 3;
  });
}

const dialog = ({ page }: Tab) => page.getByRole('dialog').waitFor();

/** Last, since from then on the viewer's session looks at the other account. */
async function view(relay: Relay, viewer: Person | undefined): Promise<void> {
  const { owner } = await workOf(relay);
  const params = { path: { accountId: owner.accountId } };
  await viewer!.api.POST('/api/support/accounts/{accountId}/view', {
    params,
    body: { reason: 'A question of theirs.' },
  });
}

describePages({
  area: 'staff',
  as: ['admin', 'support'],
  environment: { RESELLER_THRESHOLD_TOKENS: '50', REFUND_LIMIT: '0.01', REPORT_SECONDS: '0.5' },
  pages: [
    { name: 'queue-empty', path: '/support/tickets' },
    { name: 'prices', path: '/admin/prices', prepare: prices },
    { name: 'price-groups', path: '/admin/prices?tab=groups' },
    { name: 'admin-home', path: '/admin' },
    { name: 'price-time-line', path: '/admin/prices/models/imgmodel-4' },
    { name: 'price-propose', path: '/admin/prices/propose?model=vendora-chat' },
    { name: 'price-proposal', path: '/admin/prices', prepare: openProposal },
    { name: 'price-vendors', path: '/admin/prices/vendors' },
    { name: 'model-change', path: '/admin/models?model=vendora-imagine-video', open: dialog },
    { name: 'group-change', path: '/admin/groups?group=Public-Relay', open: dialog },
    { name: 'channels', path: '/admin/channels' },
    { name: 'models', path: '/admin/models' },
    { name: 'groups', path: '/admin/groups' },
    { name: 'people', path: '/admin/people' },
    { name: 'audit-log', path: '/admin/audit-log' },
    { name: 'retention', path: '/admin/retention' },
    {
      name: 'channel',
      path: '/admin/channels/sandbox',
      open: async ({ page }) => {
        await page.getByRole('button', { name: /^(Test the channel|测试渠道)$/ }).click();
        await page.getByRole('table', { name: /^(Test|测试)$/ }).waitFor();
      },
    },
    { name: 'channel-settings', path: '/admin/channels/sandbox?tab=settings' },
    {
      name: 'person',
      path: '/admin/people',
      prepare: async (relay) => `/admin/people?person=${(await workOf(relay)).owner.userId}`,
      open: dialog,
    },
    {
      name: 'audit-entry',
      path: '/admin/audit-log?subject=model:imgmodel-4',
      open: async ({ page }) => {
        await page.locator('tbody a').first().click();
        await page.getByRole('dialog').getByRole('table').waitFor();
      },
    },
    {
      name: 'account',
      path: '/support/accounts',
      prepare: async (relay) => `/support/accounts/${(await workOf(relay)).owner.accountId}`,
    },
    {
      name: 'account-charge',
      path: '/support/accounts',
      prepare: async (relay) => {
        const { owner, chargeId } = await workOf(relay);
        return `/support/accounts/${owner.accountId}?tab=usage&charge=${chargeId}`;
      },
      open: dialog,
    },
    { name: 'accounts', path: '/support/accounts?query=the%20north' },
    { name: 'ticket', path: '/support/tickets', prepare: resellerTicket },
    {
      name: 'ticket-refund',
      path: '/support/tickets',
      prepare: refundTicket,
      open: async ({ page }) => {
        await page.getByRole('button', { name: /^(Refund a charge|退还扣费)$/ }).click();
        await page
          .getByRole('dialog')
          .getByText(/^(Charged:|已扣费：)/)
          .waitFor();
      },
    },
    { name: 'queue', path: '/support/tickets?state=all' },
    { name: 'approval', path: '/approvals', prepare: approval, open: dialog },
    { name: 'system', path: '/operator/system', prepare: reports },
    {
      name: 'dead-letter',
      path: '/operator/dead-letters',
      prepare: async (relay, viewer) =>
        `/operator/dead-letters?letter=${await deadLetter(relay, viewer!.accountId)}`,
      open: dialog,
    },
    // No link leaves a chosen file without a question, so the next page is loaded.
    { name: 'price-import', path: '/admin/prices/import', open: compareFile },
    {
      name: 'viewing',
      path: '/overview',
      isLoaded: true,
      prepare: view,
      open: ({ page }) => page.getByRole('button', { name: /^(Exit|退出查看)$/ }).waitFor(),
    },
  ],
});
