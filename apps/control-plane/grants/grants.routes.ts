import { z } from 'zod';
import { id, timeView } from '#platform/http/fields.js';
import { groupName } from '#marketplace/prices/price-change.fields.js';
import { routesFor } from '../http/route.js';

const groupView = z
  .object({
    group: z.string(),
    isOpen: z
      .boolean()
      .describe('Whether the group is open to every account. Otherwise it was granted to this one.'),
    grant: z
      .object({ by: z.string(), at: timeView, ticketId: z.string().nullable() })
      .nullable()
      .describe('Null if the account has access only because the group is open.'),
  })
  .meta({ id: 'GrantableGroup' });

const accountGroupsView = z
  .object({ accountId: z.string(), groups: z.array(groupView) })
  .meta({ id: 'AccountGroups' });
const oneGroup = z.strictObject({ accountId: id, group: groupName });

const forUsers = routesFor(['user'], 'Groups of accounts');
const forReaders = routesFor(['support', 'finance', 'admin'], 'Groups of accounts');
const forAdmins = routesFor(['admin'], 'Groups of accounts');

export const grantRoutes = {
  own: forUsers.get('listOwnGroups', '/api/groups', {
    summary: 'List the groups you can create keys in.',
    description: 'Some groups are open to every account. For the others, open a ticket to request access.',
    answer: z.object({ groups: z.array(z.string()) }),
  }),
  list: forReaders.get('listAccountGroups', '/api/support/accounts/{accountId}/groups', {
    summary: 'List the groups an account can create keys in, and who granted access.',
    answer: accountGroupsView,
  }),
  grant: forAdmins.put('grantGroup', '/api/admin/accounts/{accountId}/groups/{group}', {
    summary: 'Give an account access to a group. Safe to repeat.',
    description: 'If a ticket of the account is given, the grant answers it.',
    confirms: true,
    params: oneGroup,
    body: z.strictObject({ ticketId: id.optional() }),
    answer: accountGroupsView,
    refusals: ['second_person_required'],
  }),
  withdraw: forAdmins.delete('withdrawGroup', '/api/admin/accounts/{accountId}/groups/{group}', {
    summary: 'Remove access to a group. Safe to repeat.',
    description:
      "New paid calls with the account's keys in the group are refused, unless the group is open to every account.",
    params: oneGroup,
    answer: accountGroupsView,
    refusals: ['second_person_required'],
  }),
};
