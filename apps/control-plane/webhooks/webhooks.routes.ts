import { z } from 'zod';
import { attemptView, DELIVERY_STATES, deliveryView } from '#webhooks/delivery.log.js';
import { signingSecrets } from '#webhooks/endpoint.service.js';
import { time, timeView } from '#platform/http/fields.js';
import { eventTypes } from '#webhooks/webhook-event.js';
import { routesFor } from '../http/route.js';

const url = z
  .string()
  .max(2_000)
  .meta({
    description: 'An https URL with a public address, without a user name or fragment.',
    examples: ['https://example.com/hooks/tollgate'],
  });
const description = z.string().trim().max(200);
const events = z
  .array(z.enum(eventTypes))
  .min(1)
  .max(eventTypes.length)
  .transform((types) => [...new Set(types)]);

const endpointView = z
  .object({
    id: z.string(),
    url: z.string(),
    description: z.string(),
    events: z.array(z.enum(eventTypes)),
    enabled: z.boolean(),
    disabledReason: z
      .enum(['owner', 'failing', 'gone'])
      .nullable()
      .describe('`failing`: no success for too long. `gone`: the endpoint answered 410.'),
    failingSince: timeView.nullable().describe('The time of the first failure after the last success.'),
    previousSecretUntil: timeView
      .nullable()
      .describe('The previous secret also signs until this time. Null if it does not.'),
    createdAt: timeView,
  })
  .meta({ id: 'WebhookEndpoint' });

const secretView = z.string().describe('The secret to verify signatures with. Shown only in this answer.');

const deliveryDetail = deliveryView
  .extend({
    body: z.string().describe('The exact bytes that were signed and sent.'),
    log: z.array(attemptView),
  })
  .meta({ id: 'WebhookDeliveryDetail' });

const forUsers = routesFor(['user'], 'Webhooks');

export const webhookRoutes = {
  list: forUsers.get('listWebhooks', '/api/webhooks', {
    summary: 'List webhook endpoints.',
    answer: z.object({ items: z.array(endpointView) }),
  }),
  create: forUsers.post('createWebhook', '/api/webhooks', {
    summary: 'Add an endpoint. Its secret is shown only in this answer.',
    description:
      'Deliveries follow Standard Webhooks, with the headers webhook-id, webhook-timestamp and webhook-signature. Each arrives at least once, in any order. A timely 2xx answer accepts it; otherwise it is sent again.',
    body: z.strictObject({ url, description: description.default(''), events }),
    status: 201,
    answer: endpointView.extend({ secret: secretView }),
    refusals: ['conflict', 'too_many_attempts'],
  }),
  show: forUsers.get('getWebhook', '/api/webhooks/{endpointId}', {
    summary: 'Get an endpoint.',
    answer: endpointView,
  }),
  change: forUsers.patch('changeWebhook', '/api/webhooks/{endpointId}', {
    summary: 'Change, enable or disable an endpoint.',
    description: 'Disabling an endpoint gives up its pending deliveries, which can be replayed later.',
    body: z.strictObject({
      url: url.optional(),
      description: description.optional(),
      events: events.optional(),
      enabled: z.boolean().optional(),
    }),
    answer: endpointView,
    refusals: ['too_many_attempts'],
  }),
  remove: forUsers.delete('deleteWebhook', '/api/webhooks/{endpointId}', {
    summary: 'Delete an endpoint and cancel its pending deliveries.',
  }),
  rotateSecret: forUsers.post('rotateWebhookSecret', '/api/webhooks/{endpointId}/secret', {
    summary: 'Rotate the secret. Both secrets sign during the transition.',
    description:
      'Two secrets sign at a time. Another rotation during the transition is refused, unless it says with `receiverHas` which of the two your receiver has: that one signs along with the new one, and the other stops at once.',
    query: z.strictObject({ receiverHas: z.enum(signingSecrets).optional() }),
    answer: endpointView.extend({ secret: secretView }),
    refusals: ['conflict', 'too_many_attempts'],
  }),
  ping: forUsers.post('pingWebhook', '/api/webhooks/{endpointId}/pings', {
    summary: 'Send a test event of type `ping`.',
    status: 202,
    answer: deliveryView,
    refusals: ['conflict', 'too_many_attempts'],
  }),
  deliveries: forUsers.list(deliveryView)('listWebhookDeliveries', '/api/webhooks/{endpointId}/deliveries', {
    summary: 'List deliveries to an endpoint, newest first.',
    query: { state: z.enum(DELIVERY_STATES).optional() },
  }),
  delivery: forUsers.get('getWebhookDelivery', '/api/webhooks/{endpointId}/deliveries/{deliveryId}', {
    summary: 'Get a delivery with its last 100 attempts.',
    answer: deliveryDetail,
  }),
  replay: forUsers.post(
    'replayWebhookDelivery',
    '/api/webhooks/{endpointId}/deliveries/{deliveryId}/replays',
    {
      summary: 'Resend a delivery with the same webhook-id.',
      status: 202,
      answer: deliveryView,
      refusals: ['conflict', 'too_many_attempts'],
    },
  ),
  replaySince: forUsers.post('replayWebhookDeliveries', '/api/webhooks/{endpointId}/replays', {
    summary: 'Resend deliveries queued since a given time.',
    body: z.strictObject({
      since: time,
      states: z.enum(['failed', 'all']).default('failed').describe('Resend failed deliveries only, or all.'),
    }),
    status: 202,
    answer: z.object({ replayed: z.int() }),
    refusals: ['conflict', 'too_many_attempts'],
  }),
};
