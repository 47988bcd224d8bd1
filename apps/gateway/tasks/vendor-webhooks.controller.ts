import { Controller, HttpCode, Post, Req } from '@nestjs/common';
import { Using } from '#platform/wiring.js';
import type { FastifyRequest } from 'fastify';
import { RouteRules } from '../http/caller.js';
import { WEBHOOK_BODY_BYTES } from '../http/limits.js';
import { pathPart, queryOf } from '../http/path-part.js';
import { json, type Operation } from '../openapi/operation.js';
import { VendorWebhookInbox, WEBHOOKS_PATH } from './vendor-webhooks.js';

const receiveVendorWebhook: Operation = {
  id: 'receiveVendorWebhook',
  tag: 'Vendors',
  summary: 'A vendor announces that a task has ended.',
  description: "Signed in the vendor's way. The task is polled now rather than later; nothing else is read.",
  path: { channel: 'The id of the channel.' },
  body: json({ type: 'object' }),
  answers: {
    204: { description: 'The signature is valid. The answer does not reveal whether a task was waiting.' },
  },
  refusals: ['rate_limit_exceeded'],
};

/** Receives vendors' announcements of the ends of tasks. */
@Controller()
export class VendorWebhooksController extends Using({ inbox: VendorWebhookInbox }) {
  @Post(`${WEBHOOKS_PATH}/:channel`)
  @HttpCode(204)
  @RouteRules({
    access: 'vendor',
    paid: false,
    bodyLimit: WEBHOOK_BODY_BYTES,
    keepsBytes: true,
    doc: receiveVendorWebhook,
  })
  async receive(@Req() request: FastifyRequest): Promise<void> {
    const { headers, ip } = request;
    const body = Buffer.concat(request.sentBytes ?? []);
    await this.inbox.receive(pathPart(request, 'channel'), { headers, query: queryOf(request), body, ip });
  }
}
