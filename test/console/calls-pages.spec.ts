import { afterAll } from 'vitest';
import type { Person } from '../support/console.js';
import type { Relay } from '../support/relay.js';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.js';
import { describePages } from './support/pages.js';
import { endedMesh, endedVideo, keyOf, play, withoutKeys } from './support/work.js';

let receiver: WebhookReceiver | undefined;
afterAll(() => receiver?.close());

interface Work {
  keyId: string;
  done: string;
  mesh: string;
  failed: string;
  charge: string;
  refused: string;
}

let work: Promise<Work> | undefined;

/** One of each: images, a finished video, a failed one, a chat, a refusal. */
function workOf(relay: Relay, viewer: Person): Promise<Work> {
  work ??= makeWork(relay, viewer);
  return work;
}

async function makeWork(relay: Relay, viewer: Person): Promise<Work> {
  const keyId = await keyOf(viewer);
  const prompt = 'a boat under the northern lights, seen from the shore';
  const call = (path: string, body: object) => play(relay, viewer, { keyId, path, body });
  await call('images/generations', { model: 'imgmodel-4', prompt, n: 3 });
  const messages = [{ role: 'user', content: 'tell [[tokens:20]]' }];
  await call('chat/completions', { model: 'vendora-chat', messages });
  const done = await endedVideo(relay, viewer, { keyId, prompt });
  const mesh = await endedMesh(relay, viewer, { keyId, prompt: 'a boat of wood' });
  const failed = await endedVideo(relay, viewer, { keyId, prompt: `${prompt} [[fault:fail-late]]` });
  await playWithout(relay, viewer);
  const { data } = await viewer.api.GET('/api/usage', { params: { query: {} } });
  const chargeOf = (is: (entry: { state: string; family: string | null }) => boolean) =>
    data!.items.find(is)!.chargeId;
  return {
    keyId,
    done: done.id,
    mesh: mesh.id,
    failed: failed.id,
    charge: chargeOf(({ family }) => family === 'chat'),
    refused: chargeOf(({ state }) => state === 'refused'),
  };
}

/** A request that is refused, since its key may spend less than the request costs. */
async function playWithout(relay: Relay, viewer: Person): Promise<void> {
  const body = { name: 'a trifle', group: 'Vendora-Main', totalLimit: '0.001' };
  const { data } = await viewer.api.POST('/api/keys', { body });
  const picture = { model: 'imgmodel-4', prompt: 'a boat' };
  await play(relay, viewer, { keyId: data!.keyId, path: 'images/generations', body: picture });
}

async function ticketOf(viewer: Person): Promise<string> {
  const { data } = await viewer.api.POST('/api/tickets', {
    body: { kind: 'question', subject: 'How long do files stay?', body: 'I would like to know.\nThank you.' },
  });
  return data!.id;
}

let endpoint: Promise<{ id: string; delivery: string }> | undefined;

async function makeEndpoint(viewer: Person) {
  receiver = await startWebhookReceiver();
  const { data } = await viewer.api.POST('/api/webhooks', {
    body: {
      url: `${receiver.url}/hooks`,
      description: 'The studio',
      events: ['video.completed', 'video.failed'],
    },
  });
  const path = { endpointId: data!.id };
  const { data: ping } = await viewer.api.POST('/api/webhooks/{endpointId}/pings', { params: { path } });
  return { id: data!.id, delivery: ping!.id };
}

const endpointOf = (viewer: Person) => (endpoint ??= makeEndpoint(viewer));

describePages({
  area: 'calls',
  as: [],
  credits: '20',
  environment: { WEBHOOK_ALLOW_PRIVATE: 'true', WEBHOOK_POLL_SECONDS: '0.05' },
  pages: [
    {
      name: 'playground-without-key',
      path: '/playground',
      prepare: async (_, viewer) => withoutKeys(viewer!),
    },
    { name: 'library-empty', path: '/library' },
    { name: 'usage-empty', path: '/usage' },
    { name: 'logs-empty', path: '/logs' },
    { name: 'tasks-empty', path: '/tasks' },
    { name: 'tickets-empty', path: '/tickets' },
    { name: 'webhooks-empty', path: '/webhooks' },
    {
      name: 'usage',
      path: '/usage',
      isLoaded: true,
      prepare: async (relay, viewer) => void (await workOf(relay, viewer!)),
    },
    { name: 'library', path: '/library' },
    { name: 'library-images', path: '/library?kind=image' },
    { name: 'usage-filtered', path: '/usage?family=video&from=2026-01-01&to=2026-01-02' },
    {
      name: 'usage-by-key',
      path: '/usage?range=24h&by=key&show=requests',
      open: ({ page }) => page.locator('.recharts-bar-rectangle').first().waitFor(),
    },
    {
      name: 'logs-found',
      path: '/logs',
      prepare: async (relay, viewer) => `/logs?id=${(await workOf(relay, viewer!)).done}`,
    },
    { name: 'logs-not-found', path: '/logs?id=no-such-request-1' },
    {
      name: 'logs-filtered',
      path: '/logs?family=video&group=Vendora-Main&state=settled&from=2026-01-01&to=2026-01-02',
    },
    {
      name: 'usage-charge',
      path: '/logs',
      prepare: async (relay, viewer) => `/logs?charge=${(await workOf(relay, viewer!)).charge}`,
      open: ({ page }) => page.getByText(/^(Verified in your browser|已在浏览器中验算，金额一致)$/).waitFor(),
    },
    {
      name: 'usage-refused',
      path: '/logs',
      prepare: async (relay, viewer) => `/logs?charge=${(await workOf(relay, viewer!)).refused}`,
      open: ({ page }) => page.getByRole('dialog').getByText('key_limit_exceeded').first().waitFor(),
    },
    { name: 'tasks', path: '/tasks', prepare: async (relay, viewer) => void (await workOf(relay, viewer!)) },
    {
      name: 'tasks-done',
      path: '/tasks',
      prepare: async (relay, viewer) => `/tasks?task=${(await workOf(relay, viewer!)).done}`,
      open: ({ page }) => page.locator('video').waitFor(),
    },
    {
      name: 'tasks-mesh',
      path: '/tasks',
      prepare: async (relay, viewer) => `/tasks?task=${(await workOf(relay, viewer!)).mesh}`,
      open: ({ page }) => page.locator('canvas').waitFor(),
    },
    {
      name: 'tasks-failed',
      path: '/tasks',
      prepare: async (relay, viewer) => `/tasks?task=${(await workOf(relay, viewer!)).failed}`,
      open: ({ page }) => page.getByRole('dialog').getByRole('alert').waitFor(),
    },
    {
      name: 'playground',
      path: '/playground',
      prepare: async (relay, viewer) => void (await workOf(relay, viewer!)),
    },
    { name: 'playground-edit', path: '/playground?kind=edit' },
    {
      name: 'playground-video',
      path: '/playground?kind=video',
      prepare: async (relay, viewer) => `/playground?kind=video&task=${(await workOf(relay, viewer!)).done}`,
    },
    { name: 'playground-chat', path: '/playground?kind=chat' },
    { name: 'playground-speech', path: '/playground?kind=speech' },
    { name: 'tickets', path: '/tickets', prepare: async (_, viewer) => void (await ticketOf(viewer!)) },
    { name: 'tickets-new', path: '/tickets/new?kind=refund' },
    {
      name: 'ticket',
      path: '/tickets',
      prepare: async (_, viewer) => `/tickets/${await ticketOf(viewer!)}`,
    },
    { name: 'webhooks', path: '/webhooks', prepare: async (_, viewer) => void (await endpointOf(viewer!)) },
    {
      name: 'webhook',
      path: '/webhooks',
      prepare: async (_, viewer) => `/webhooks/${(await endpointOf(viewer!)).id}`,
    },
    {
      name: 'webhook-delivery',
      path: '/webhooks',
      prepare: async (_, viewer) => {
        const { id, delivery } = await endpointOf(viewer!);
        return `/webhooks/${id}?delivery=${delivery}`;
      },
      open: ({ page }) => page.getByRole('dialog').getByText('204').first().waitFor(),
    },
    { name: 'account', path: '/account' },
    { name: 'privacy', path: '/privacy' },
  ],
});
