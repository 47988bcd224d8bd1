import { z } from 'zod';
import { id, pageOf, pageQuery, time, timeView } from '#platform/http/fields.js';
import { eventTypes } from '#webhooks/webhook-event.js';
import { route } from '../http/route.js';

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

const tag = 'Webhooks';
const access = ['user'] as const;
const endpointParams = z.strictObject({ endpointId: id });
const deliveryParams = z.strictObject({ endpointId: id, deliveryId: id });

export const webhookRoutes = {
  list: route({
    id: 'listWebhooks',
    method: 'GET',
    path: '/api/webhooks',
    tag,
    summary: 'The endpoints of the account.',
    access,
    answer: z.object({ items: z.array(endpointView) }),
  }),
  create: route({
    id: 'createWebhook',
    method: 'POST',
    path: '/api/webhooks',
    tag,
    summary: 'Adds an endpoint. Its secret is in this answer only.',
    description:
      'Deliveries follow the Standard Webhooks scheme: headers webhook-id, webhook-timestamp and webhook-signature. ' +
      'They come at least once and in any order; any 2xx answer in time accepts one, anything else has it come again.',
    access,
    body: z.strictObject({ url, description: description.default(''), events }),
    status: 201,
    answer: endpointView.extend({ secret: secretView }),
    refusals: ['conflict'],
  }),
  show: route({
    id: 'getWebhook',
    method: 'GET',
    path: '/api/webhooks/{endpointId}',
    tag,
    summary: 'One endpoint.',
    access,
    params: endpointParams,
    answer: endpointView,
  }),
  change: route({
    id: 'changeWebhook',
    method: 'PATCH',
    path: '/api/webhooks/{endpointId}',
    tag,
    summary: 'Changes an endpoint, or switches it off and on.',
    description: 'Switching it off gives up what is still to be sent to it; that can be replayed later.',
    access,
    params: endpointParams,
    body: z.strictObject({
      url: url.optional(),
      description: description.optional(),
      events: events.optional(),
      enabled: z.boolean().optional(),
    }),
    answer: endpointView,
  }),
  remove: route({
    id: 'deleteWebhook',
    method: 'DELETE',
    path: '/api/webhooks/{endpointId}',
    tag,
    summary: 'Deletes an endpoint; what is still to be sent to it is given up.',
    access,
    params: endpointParams,
  }),
  rotateSecret: route({
    id: 'rotateWebhookSecret',
    method: 'POST',
    path: '/api/webhooks/{endpointId}/secret',
    tag,
    summary: 'Exchanges the secret. Both sign for a while.',
    access,
    params: endpointParams,
    answer: endpointView.extend({ secret: secretView }),
  }),
  ping: route({
    id: 'pingWebhook',
    method: 'POST',
    path: '/api/webhooks/{endpointId}/pings',
    tag,
    summary: 'Sends a trial event of type `ping`.',
    access,
    params: endpointParams,
    status: 202,
    answer: deliveryView,
    refusals: ['conflict', 'too_many_attempts'],
  }),
  deliveries: route({
    id: 'listWebhookDeliveries',
    method: 'GET',
    path: '/api/webhooks/{endpointId}/deliveries',
    tag,
    summary: 'What was sent to an endpoint, newest first.',
    access,
    params: endpointParams,
    query: z.strictObject({ ...pageQuery, state: z.enum(DELIVERY_STATES).optional() }),
    answer: pageOf(deliveryView),
  }),
  delivery: route({
    id: 'getWebhookDelivery',
    method: 'GET',
    path: '/api/webhooks/{endpointId}/deliveries/{deliveryId}',
    tag,
    summary: 'One delivery with every attempt.',
    access,
    params: deliveryParams,
    answer: deliveryDetail,
  }),
  replay: route({
    id: 'replayWebhookDelivery',
    method: 'POST',
    path: '/api/webhooks/{endpointId}/deliveries/{deliveryId}/replays',
    tag,
    summary: 'Sends a delivery again, under the same webhook-id.',
    access,
    params: deliveryParams,
    status: 202,
    answer: deliveryView,
    refusals: ['conflict'],
  }),
  replaySince: route({
    id: 'replayWebhookDeliveries',
    method: 'POST',
    path: '/api/webhooks/{endpointId}/replays',
    tag,
    summary: 'Sends again what was queued since a time.',
    access,
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
