import OpenAI from 'openai';
import { newId } from '#platform/ids.js';
import type { Person } from '../support/console.js';
import type { Relay } from '../support/relay.js';
import { describePages } from './support/pages.js';

/** An order by the viewer, and another that was cancelled. */
async function orders(_relay: Relay, viewer: Person | undefined): Promise<string> {
  const order = async (credits: string) => {
    const body = { credits, provider: 'sandbox', requestId: newId() } as const;
    return (await viewer!.api.POST('/api/topups', { body })).data!.id;
  };
  const params = { path: { orderId: await order('5') } };
  await viewer!.api.POST('/api/topups/{orderId}/cancel', { params });
  return `/topups/${await order('12.345')}`;
}

/** A person whom the viewer invited, and the rewards, part of which was transferred. */
async function invitee(relay: Relay, viewer: Person | undefined): Promise<void> {
  const { accountId } = await relay.fixture.account({ credits: '0' });
  await relay.fixture.billing.query(
    'INSERT INTO invitations (invitee_account_id, inviter_account_id) VALUES ($1, $2)',
    [accountId, viewer!.accountId],
  );
}

/** Deletes the key that the viewer's account came with. */
async function noKeys(_relay: Relay, viewer: Person | undefined): Promise<void> {
  const { data } = await viewer!.api.GET('/api/keys');
  for (const { keyId } of data!.items)
    await viewer!.api.DELETE('/api/keys/{keyId}', { params: { path: { keyId } } });
}

async function keys(_relay: Relay, viewer: Person | undefined): Promise<string> {
  const group = 'Vendora-Main';
  await viewer!.api.POST('/api/keys', { body: { name: 'website', group } });
  const { data } = await viewer!.api.POST('/api/keys', {
    body: {
      name: 'a test',
      group,
      monthlyLimit: '5',
      totalLimit: '0',
      allowedModels: ['vendora-imagine-image', 'vendora-imagine-video'],
      allowedIps: ['192.0.2.0/24'],
    },
  });
  return `/tokens?key=${data!.keyId}`;
}

/** An image that was charged, and one that failed and was refunded. */
async function calls(relay: Relay, viewer: Person | undefined): Promise<void> {
  const { data } = await viewer!.api.POST('/api/keys', { body: { name: 'calls', group: 'Vendora-Main' } });
  const sdk = new OpenAI({ apiKey: data!.apiKey, baseURL: `${relay.baseUrl}/v1`, maxRetries: 0 });
  await sdk.images.generate({ model: 'vendora-imagine-image', prompt: 'a gate' });
  const failing = sdk.images.generate({
    model: 'vendora-imagine-image',
    prompt: 'a gate [[fault:reject-503]]',
  });
  await failing.catch((error: unknown) => error);
}

describePages({
  area: 'user',
  as: [],
  credits: '12.345678901',
  environment: { SANDBOX_PAYMENTS: 'true', BANK_TRANSFER_INSTRUCTIONS: 'Transfer to 0815.' },
  pages: [
    { name: 'tokens-empty', path: '/tokens', prepare: noKeys },
    { name: 'overview', path: '/overview' },
    { name: 'wallet-empty', path: '/wallet' },
    { name: 'order', path: '/wallet', isLoaded: true, prepare: orders },
    { name: 'wallet', path: '/wallet' },
    { name: 'statement', path: '/wallet?tab=statement' },
    {
      name: 'monthly-statement',
      path: `/wallet?tab=statement&month=${new Date().toISOString().slice(0, 7)}`,
    },
    { name: 'statement-empty', path: '/wallet?tab=statement&kind=write-off' },
    { name: 'invites', path: '/wallet?tab=invites', prepare: invitee },
    { name: 'billing-details', path: '/wallet?tab=details' },
    {
      name: 'token-change',
      path: '/tokens',
      isLoaded: true,
      prepare: keys,
      open: ({ page }) => page.getByRole('dialog').getByRole('textbox').first().waitFor(),
    },
    {
      name: 'token-new',
      path: '/tokens?new=yes',
      open: async ({ page }) => {
        const form = page.getByRole('dialog');
        await form.getByRole('button', { name: /^(Advanced|高级选项)$/ }).click();
        await form.getByRole('radio').first().waitFor();
      },
    },
    { name: 'tokens', path: '/tokens' },
    { name: 'overview-used', path: '/overview', isLoaded: true, prepare: calls },
  ],
});
