import { z } from 'zod';
import { id, requestIdField, timeView, numberText, visibleLine, visibleText } from '#platform/http/fields.js';
import { ticketKinds, ticketStates } from '#support/ticket.entity.js';
import { routesFor } from '../http/route.js';

const MAX_BODY_CHARS = 10_000;

const subject = visibleLine.max(200, 'must have at most 200 characters');
const body = visibleText
  .max(MAX_BODY_CHARS, `must have at most ${MAX_BODY_CHARS} characters`)
  // oxlint-disable-next-line no-control-regex -- control characters are what is refused
  .regex(/^[^\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]*$/, 'must be plain text');

const ticketView = z
  .object({
    id: z.string(),
    accountId: z.string(),
    kind: z.enum(ticketKinds),
    subject: z.string(),
    state: z
      .enum(ticketStates)
      .describe('`open`: waiting for support. `answered`: waiting for the customer.'),
    chargeId: z.string().nullable(),
    outcome: z.enum(['rate_granted', 'refunded']).nullable(),
    createdAt: timeView,
    updatedAt: timeView,
    closedAt: timeView.nullable(),
  })
  .meta({ id: 'Ticket' });

const messageView = z
  .object({
    id: z.string(),
    kind: z.enum(['message', 'note', 'event']).describe('`note`: visible to staff only.'),
    fromStaff: z.boolean(),
    body: z.string(),
    createdAt: timeView,
  })
  .meta({ id: 'TicketMessage' });

const ticketWithMessages = ticketView
  .extend({ messages: z.array(messageView) })
  .meta({ id: 'TicketWithMessages' });

const staffMessageView = messageView
  .extend({ authorId: z.string().describe("A person's ID.") })
  .meta({ id: 'StaffMessage' });

/** What a request for the reseller rate is judged by. */
const resellerView = z
  .object({
    verifiedTokens: numberText.describe("Tokens of charged calls with the account's keys."),
    thresholdTokens: numberText.describe('The tokens required for the reseller rate.'),
    isEligible: z.boolean(),
    rate: z.string().describe("The account's current rate: 1.3 or 1.2."),
  })
  .meta({ id: 'Reseller' });

/** The support queue shows more than customers see. */
const queuedTicket = ticketView
  .extend({
    assigneeId: z.string().nullable().describe('The support team member it is assigned to.'),
    waitingSince: timeView
      .nullable()
      .describe('When the customer began waiting for an answer. Open tickets only.'),
  })
  .meta({ id: 'QueuedTicket' });

const staffTicket = queuedTicket
  .extend({
    openedBy: z.string().describe("A person's ID."),
    messages: z.array(staffMessageView),
    reseller: resellerView.nullable().describe('For tickets of type `reseller_rate` only.'),
  })
  .meta({ id: 'StaffTicket' });
const filters = { state: z.enum(ticketStates).optional(), kind: z.enum(ticketKinds).optional() };

const forUsers = routesFor(['user'], 'Tickets');
const forStaff = routesFor(['support', 'admin'], 'Tickets');
const forAdmins = routesFor(['admin'], 'Tickets');

export const ticketRoutes = {
  open: forUsers.post('openTicket', '/api/tickets', {
    summary: 'Open a ticket.',
    body: z.strictObject({
      kind: z.enum(ticketKinds),
      subject,
      body,
      chargeId: id.optional().describe('The charge that the ticket is about.'),
    }),
    status: 201,
    answer: ticketWithMessages,
    refusals: ['conflict', 'too_many_attempts'],
  }),
  list: forUsers.list(ticketView)('listTickets', '/api/tickets', {
    summary: 'List your tickets, newest first.',
    query: filters,
  }),
  show: forUsers.get('getTicket', '/api/tickets/{ticketId}', {
    summary: 'Get a ticket with its messages.',
    answer: ticketWithMessages,
  }),
  write: forUsers.post('writeToTicket', '/api/tickets/{ticketId}/messages', {
    summary: 'Reply to support.',
    body: z.strictObject({ body }),
    status: 201,
    answer: ticketWithMessages,
    refusals: ['conflict', 'too_many_attempts'],
  }),
  close: forUsers.post('closeTicket', '/api/tickets/{ticketId}/close', {
    summary: 'Close a ticket. Safe to repeat.',
    answer: ticketWithMessages,
  }),
  reopen: forUsers.post('reopenTicket', '/api/tickets/{ticketId}/reopen', {
    summary: 'Reopen a closed ticket.',
    answer: ticketWithMessages,
    refusals: ['conflict'],
  }),
};

export const supportTicketRoutes = {
  list: forStaff.list(queuedTicket)('listSupportTickets', '/api/support/tickets', {
    summary: 'List tickets, newest first. With state `open`, the longest waiting come first.',
    query: {
      ...filters,
      accountId: id.optional(),
      assignee: z
        .union([z.literal('none'), id])
        .optional()
        .describe("A person's ID, or `none` for tickets without an assignee."),
    },
  }),
  colleagues: forStaff.get('listColleagues', '/api/support/colleagues', {
    summary: 'List the people that a ticket can be assigned to.',
    answer: z.object({ items: z.array(z.object({ id: z.string(), email: z.string() })) }),
  }),
  assign: forStaff.put('assignTicket', '/api/support/tickets/{ticketId}/assignee', {
    summary: 'Assign a ticket to a support team member, or to nobody. Safe to repeat.',
    body: z.strictObject({ assigneeId: id.nullable() }),
    answer: staffTicket,
    refusals: ['second_person_required'],
  }),
  show: forStaff.get('getSupportTicket', '/api/support/tickets/{ticketId}', {
    summary: 'Get a ticket with its messages and notes.',
    answer: staffTicket,
  }),
  answer: forStaff.post('answerTicket', '/api/support/tickets/{ticketId}/messages', {
    summary: 'Reply to the customer, or leave a note for staff.',
    body: z.strictObject({ body, isNote: z.boolean().default(false) }),
    status: 201,
    answer: staffTicket,
    refusals: ['second_person_required', 'conflict'],
  }),
  close: forStaff.post('closeSupportTicket', '/api/support/tickets/{ticketId}/close', {
    summary: 'Close a ticket. Safe to repeat.',
    answer: staffTicket,
    refusals: ['second_person_required'],
  }),
  reopen: forStaff.post('reopenSupportTicket', '/api/support/tickets/{ticketId}/reopen', {
    summary: 'Reopen a closed ticket.',
    answer: staffTicket,
    refusals: ['second_person_required', 'conflict'],
  }),
  grantResellerRate: forAdmins.post('grantResellerRate', '/api/admin/tickets/{ticketId}/reseller-rate', {
    summary: 'Grant the reseller rate to the account of a ticket. Safe to repeat.',
    description: 'Refused if the verified volume is too low.',
    confirms: true,
    body: z.strictObject({ requestId: requestIdField }),
    answer: staffTicket,
    refusals: ['second_person_required', 'conflict'],
  }),
};
