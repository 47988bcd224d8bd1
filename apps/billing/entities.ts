import { ChannelRow } from './catalog/channel.entity.js';
import { Group } from './catalog/group.entity.js';
import { Model } from './catalog/model.entity.js';
import { User } from '#identity/user.entity.js';
import { Approval } from './approvals/approval.entity.js';
import { ApiKey } from './keys/api-key.entity.js';
import { Ticket, TicketMessage } from './tickets/ticket.entity.js';
import { WebhookEndpoint } from './webhooks/webhook-endpoint.entity.js';
import { TopupOrder } from './payments/topup-order.entity.js';

/** Every entity that billing owns, for TypeORM. */
export const ENTITIES = [
  ApiKey,
  Approval,
  Ticket,
  TicketMessage,
  TopupOrder,
  User,
  WebhookEndpoint,
  Model,
  Group,
  ChannelRow,
];
