import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Browser, Page } from 'playwright-core';
import { newId } from '#platform/ids.js';
import { type Person, person } from '../support/console.js';
import { type Relay, startRelay } from '../support/relay.js';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.js';
import { openBrowser, Tab } from './support/browser.js';
import { closeTabs, putAway } from './support/steps.js';
import { keyOf, withoutKeys } from './support/work.js';

let relay: Relay;
let browser: Browser;
let receiver: WebhookReceiver;
let tab: Tab;

beforeAll(async () => {
  [relay, browser, receiver] = await Promise.all([
    startRelay({ WEBHOOK_ALLOW_PRIVATE: 'true', WEBHOOK_POLL_SECONDS: '0.05' }),
    openBrowser(),
    startWebhookReceiver(),
  ]);
});
afterAll(async () => {
  await browser?.close();
  await receiver?.close();
  await relay?.close();
});
afterEach(() => closeTabs(tab));

async function open(someone: Person, path: string): Promise<Page> {
  tab = await Tab.open(browser, relay, { as: someone });
  await tab.goto(path);
  return tab.page;
}

describe('a video in the playground', () => {
  it('is not started without enough credits: the page says so first, and offers credits', async () => {
    const someone = await person(relay, { credits: '0.01' });
    await keyOf(someone);
    const page = await open(someone, '/playground?kind=video');
    await page.getByText('Your balance doesn’t cover this call. Top up first.').waitFor();
    await page.getByLabel('Prompt').fill('a boat');
    await page.getByRole('button', { name: 'Generate video' }).click();
    const sheet = page.getByRole('dialog', { name: 'Add credits to run this call' });
    await sheet.getByRole('button', { name: /^Pay \$/ }).waitFor();
    expect((await someone.api.GET('/api/usage')).data!.items).toEqual([]);
  });
});

describe('images in the playground', () => {
  it('are shown, and appear in the usage log under filters that the address keeps', async () => {
    const someone = await person(relay, { credits: '1' });
    await withoutKeys(someone);
    const page = await open(someone, '/playground');
    // The first call of an account without a key creates one.
    await page.getByLabel('Prompt').fill('a boat');
    await page.getByLabel('Number').fill('2');
    await page.getByRole('button', { name: 'Generate image' }).click();
    await page.getByRole('img', { name: 'Generated image 2' }).waitFor();
    await page.getByRole('link', { name: 'See what it cost' }).click();
    await page.getByRole('dialog').getByText('Verified in your browser').waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('2 images').waitFor();
    await page.getByLabel('Type', { exact: true }).first().click();
    await page.getByRole('option', { name: 'Video' }).click();
    await page.getByText('No requests match your filters').waitFor();
    expect(page.url()).toContain('family=video');
    await tab.goto('/logs?family=image');
    const requests = page.getByRole('table', { name: 'Requests, newest first' });
    await requests.waitFor();
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.getByRole('menuitemcheckbox', { name: 'Duration' }).click();
    await tab.goto('/logs?family=image');
    await requests.getByRole('columnheader', { name: 'Duration' }).waitFor();
  });
});

describe('a link to the playground', () => {
  it('opens what its key may call, and says so if another key is used', async () => {
    const someone = await person(relay, { credits: '1' });
    await withoutKeys(someone);
    await keyOf(someone);
    const { data: key } = await someone.api.POST('/api/keys', {
      body: { name: 'clips', group: 'Vendora-Main', allowedModels: ['vendora-imagine-video'] },
    });
    const page = await open(someone, `/playground?key=${key!.keyId}`);
    await page.getByRole('button', { name: 'Generate video' }).waitFor();
    const field = page.getByRole('combobox', { name: 'Key' });
    await expect.poll(() => field.inputValue()).toBe('clips · Vendora-Main');
    await expect.poll(() => page.getByText('is used instead').count()).toBe(0);
    await page.getByRole('tab', { name: 'Image', exact: true }).click();
    await page.getByText(/^The key clips can’t use .+\. The key studio is used instead\.$/).waitFor();
    await expect.poll(() => field.inputValue()).toBe('studio · Vendora-Main');
  });

  it('leads to code that contains a key that was just created only if that key makes the call', async () => {
    const someone = await person(relay, { credits: '1' });
    await keyOf(someone);
    const page = await open(someone, '/tokens?new=yes');
    await page.getByLabel('Name').fill('cheap');
    await page.getByRole('button', { name: 'Advanced' }).click();
    await page.getByRole('radio', { name: 'Public-Relay' }).check();
    await page.getByRole('button', { name: 'Create the key' }).click();
    await page.getByLabel('I’ve saved this').check();
    await page.getByRole('link', { name: 'Try it in the playground' }).click();
    const code = page.getByRole('region', { name: 'curl' });
    await code.getByText('Bearer sk-tg-').waitFor();
    await tab.follow('/playground?model=vendora-imagine-image');
    await code.getByText('Bearer <API_KEY>').waitFor();
    await page.getByRole('button', { name: 'Create a key for your code' }).waitFor();
  });

  it('says so if its model or its key no longer exists', async () => {
    const someone = await person(relay, { credits: '1' });
    await withoutKeys(someone);
    await keyOf(someone);
    const page = await open(someone, `/playground?model=imgmodel-0&key=${newId()}`);
    await page.getByText('The key you chose wasn’t found. The key studio is used instead.').waitFor();
    const model = await page.getByRole('combobox', { name: 'Model' }).inputValue();
    await page.getByText(`imgmodel-0 isn’t available. ${model} is selected instead.`).waitFor();
    expect(await tab.barriers()).toEqual([]);
  });
});

describe('a ticket', () => {
  it('is opened, answered, closed and reopened', async () => {
    const someone = await person(relay);
    const support = await person(relay, { roles: ['support'] });
    const page = await open(someone, '/tickets');
    await page.getByRole('link', { name: 'Open a ticket' }).click();
    await page.getByRole('button', { name: 'Send to support' }).click();
    await page.getByText('Describe it in a few words.').waitFor();
    await page.getByLabel('Subject').fill('How long do files stay?');
    await page.getByLabel('Message').fill('I would like to know.');
    await page.getByRole('button', { name: 'Send to support' }).click();
    await page.getByText('Waiting for support').waitFor();
    const ticketId = new URL(page.url()).pathname.split('/').at(-1)!;
    await support.api.POST('/api/support/tickets/{ticketId}/messages', {
      params: { path: { ticketId } },
      body: { body: 'For about 25 minutes.' },
    });
    await page.reload();
    await page.getByText('For about 25 minutes.').waitFor();
    await page.getByRole('button', { name: 'Close the ticket' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Close the ticket' }).click();
    await page.getByText('This ticket is closed.').waitFor();
    await page.getByRole('button', { name: 'Reopen' }).click();
    await page.getByLabel('Your message').fill('Thank you.');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByRole('list', { name: 'Conversation' }).getByText('Thank you.').waitFor();
  });
});

describe('a webhook endpoint', () => {
  it('shows its secret once, is pinged, and lists the delivery, which can be sent again', async () => {
    const page = await open(await person(relay), '/webhooks');
    await page.getByRole('button', { name: 'Add an endpoint' }).click();
    await page.getByLabel('URL').fill(`${receiver.url}/console`);
    await page.getByRole('button', { name: 'Create endpoint' }).click();
    const once = page.getByRole('dialog', { name: 'Signing secret' });
    await once.getByText(/^whsec_/).waitFor();
    await putAway(once);
    await page.getByRole('link', { name: `${receiver.url}/console` }).click();
    await page.getByRole('button', { name: 'Send a ping' }).click();
    const list = page.getByRole('table', { name: 'Deliveries' });
    await list.getByText('Delivered').waitFor();
    await list.getByRole('link').first().click();
    const drawer = page.getByRole('dialog');
    await drawer.getByRole('table', { name: 'Attempts' }).getByText('204').first().waitFor();
    await drawer.getByRole('button', { name: 'Resend' }).click();
    await drawer.getByRole('table', { name: 'Attempts' }).getByText('204').nth(1).waitFor();
    expect(receiver.at('/console').length).toBeGreaterThanOrEqual(2);
  });

  it('says that a failed delivery is being retried', async () => {
    receiver.answer('/broken', (response) => response.writeHead(500).end());
    const owner = await person(relay);
    const endpoint = { url: `${receiver.url}/broken`, events: ['balance.low' as const] };
    const { data } = await owner.api.POST('/api/webhooks', { body: endpoint });
    const page = await open(owner, `/webhooks/${data!.id}`);
    await page.getByRole('button', { name: 'Send a ping' }).click();
    await page.getByRole('table', { name: 'Deliveries' }).getByText('Failed — retrying').waitFor();
  });
});
