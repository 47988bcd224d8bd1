import { ChannelRow } from '#marketplace/catalog/channel.entity.js';
import { Group } from '#marketplace/catalog/group.entity.js';
import { Model } from '#marketplace/catalog/model.entity.js';
import { User } from '#identity/user.entity.js';
import { Approval } from '#approvals/approval.entity.js';
import { ApiKey } from '#people/keys/api-key.entity.js';
import { Ticket, TicketMessage } from '#support/ticket.entity.js';
import { WebhookEndpoint } from '#webhooks/webhook-endpoint.entity.js';
import { TopupOrder } from '#payments/topup-order.entity.js';

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
