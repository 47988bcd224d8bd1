import { z } from 'zod';
import { id, pageOf, pageQuery, time, timeView } from '#platform/http/fields.js';
import { eventTypes } from '#webhooks/webhook-event.js';
import { routesFor } from '../http/route.js';

const url = z
  .string()
  .max(2_000)
  .meta({
    description: 'https, on a public address, without user name and fragment.',
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
      .meta({ description: '`failing`: for too long without a success; `gone`: it answered 410.' }),
    failingSince: timeView.nullable().meta({ description: 'The first failure after the last success.' }),
    previousSecretUntil: timeView
      .nullable()
      .meta({ description: 'Until then the secret before signs along.' }),
    createdAt: timeView,
  })
  .meta({ id: 'WebhookEndpoint' });

const secretView = z.string().meta({ description: 'Shown this once; what signatures are verified with.' });

const DELIVERY_STATES = ['pending', 'delivered', 'failed'] as const;

const deliveryView = z
  .object({
    id: z.string(),
    eventId: z.string().meta({ description: 'The header webhook-id; the same in every attempt and replay.' }),
    type: z.string(),
    state: z
      .enum(DELIVERY_STATES)
      .meta({ description: '`failed`: given up, or the endpoint was switched off.' }),
    attempts: z.number().int().meta({ description: 'Since it was queued or last replayed.' }),
    nextAttemptAt: timeView.nullable(),
    createdAt: timeView,
    endedAt: timeView.nullable(),
    lastStatus: z.number().int().nullable().meta({ description: 'The HTTP status of the last attempt.' }),
    lastError: z.string().nullable().meta({ description: 'Why the last attempt brought no answer.' }),
  })
  .meta({ id: 'WebhookDelivery' });

const deliveryDetail = deliveryView
  .extend({
    body: z.string().meta({ description: 'What was signed and sent, to the byte.' }),
    log: z.array(
      z.object({
        startedAt: timeView,
        durationMs: z.number().int(),
        status: z.number().int().nullable(),
        error: z.string().nullable(),
        answer: z.string().nullable().meta({ description: 'Its first characters.' }),
      }),
    ),
  })
  .meta({ id: 'WebhookDeliveryDetail' });
const endpointParams = z.strictObject({ endpointId: id });
const deliveryParams = z.strictObject({ endpointId: id, deliveryId: id });

const forUsers = routesFor(['user'], 'Webhooks');

export const webhookRoutes = {
  list: forUsers.get('listWebhooks', '/api/webhooks', {
    summary: 'List webhook endpoints.',
    answer: z.object({ items: z.array(endpointView) }),
  }),
  create: forUsers.post('createWebhook', '/api/webhooks', {
    summary: 'Add an endpoint. Its secret is shown only in this answer.',
    description:
      'Deliveries follow the Standard Webhooks scheme: headers webhook-id, webhook-timestamp and webhook-signature. ' +
      'They come at least once and in any order; any 2xx answer in time accepts one, anything else has it come again.',
    body: z.strictObject({ url, description: description.default(''), events }),
    status: 201,
    answer: endpointView.extend({ secret: secretView }),
    refusals: ['conflict'],
  }),
  show: forUsers.get('getWebhook', '/api/webhooks/{endpointId}', {
    summary: 'One endpoint.',
    params: endpointParams,
    answer: endpointView,
  }),
  change: forUsers.patch('changeWebhook', '/api/webhooks/{endpointId}', {
    summary: 'Change, enable or disable an endpoint.',
    description: 'Switching it off gives up what is still to be sent to it; that can be replayed later.',
    params: endpointParams,
    body: z.strictObject({
      url: url.optional(),
      description: description.optional(),
      events: events.optional(),
      enabled: z.boolean().optional(),
    }),
    answer: endpointView,
  }),
  remove: forUsers.delete('deleteWebhook', '/api/webhooks/{endpointId}', {
    summary: 'Delete an endpoint and cancel its pending deliveries.',
    params: endpointParams,
  }),
  rotateSecret: forUsers.post('rotateWebhookSecret', '/api/webhooks/{endpointId}/secret', {
    summary: 'Rotate the secret. Both secrets sign for a while.',
    params: endpointParams,
    answer: endpointView.extend({ secret: secretView }),
  }),
  ping: forUsers.post('pingWebhook', '/api/webhooks/{endpointId}/pings', {
    summary: 'Send a test event of type `ping`.',
    params: endpointParams,
    status: 202,
    answer: deliveryView,
    refusals: ['conflict', 'too_many_attempts'],
  }),
  deliveries: forUsers.get('listWebhookDeliveries', '/api/webhooks/{endpointId}/deliveries', {
    summary: 'List deliveries to an endpoint, newest first.',
    params: endpointParams,
    query: z.strictObject({ ...pageQuery, state: z.enum(DELIVERY_STATES).optional() }),
    answer: pageOf(deliveryView),
  }),
  delivery: forUsers.get('getWebhookDelivery', '/api/webhooks/{endpointId}/deliveries/{deliveryId}', {
    summary: 'Get a delivery with all attempts.',
    params: deliveryParams,
    answer: deliveryDetail,
  }),
  replay: forUsers.post(
    'replayWebhookDelivery',
    '/api/webhooks/{endpointId}/deliveries/{deliveryId}/replays',
    {
      summary: 'Resend a delivery with the same webhook-id.',
      params: deliveryParams,
      status: 202,
      answer: deliveryView,
      refusals: ['conflict'],
    },
  ),
  replaySince: forUsers.post('replayWebhookDeliveries', '/api/webhooks/{endpointId}/replays', {
    summary: 'Resend deliveries queued since a given time.',
    params: endpointParams,
    body: z.strictObject({
      since: time,
      states: z.enum(['failed', 'all']).default('failed').meta({ description: 'Only what failed, or all.' }),
    }),
    status: 202,
    answer: z.object({ replayed: z.number().int() }),
    refusals: ['conflict'],
  }),
};
