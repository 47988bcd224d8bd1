import { z } from 'zod';
import { id, timeView } from '#platform/http/fields.js';
import { groupName } from '#marketplace/prices/price-change.fields.js';
import { routesFor } from '../http/route.js';

const groupView = z
  .object({
    group: z.string(),
    isOpen: z.boolean().meta({ description: 'To every account; else it was granted to this one.' }),
    grant: z
      .object({ by: z.string(), at: timeView, ticketId: z.string().nullable() })
      .nullable()
      .meta({ description: 'Null: the account has it only because it is open.' }),
  })
  .meta({ id: 'GrantableGroup' });

const accountGroupsView = z
  .object({ accountId: z.string(), groups: z.array(groupView) })
  .meta({ id: 'AccountGroups' });
const ofAccount = z.strictObject({ accountId: id });
const oneGroup = z.strictObject({ accountId: id, group: groupName });

const forUsers = routesFor(['user'], 'Groups of accounts');
const forReaders = routesFor(['support', 'finance', 'admin'], 'Groups of accounts');
const forAdmins = routesFor(['admin'], 'Groups of accounts');

export const grantRoutes = {
  own: forUsers.get('listOwnGroups', '/api/groups', {
    summary: 'List the groups you can create keys in.',
    description: 'Some are open to everybody; others are granted by the operator, who is asked by a ticket.',
    answer: z.object({ groups: z.array(z.string()) }),
  }),
  list: forReaders.get('listAccountGroups', '/api/support/accounts/{accountId}/groups', {
    summary: 'List the groups an account can create keys in, and who granted access.',
    params: ofAccount,
    answer: accountGroupsView,
  }),
  grant: forAdmins.put('grantGroup', '/api/admin/accounts/{accountId}/groups/{group}', {
    summary: 'Give an account access to a group. Safe to repeat.',
    description: 'With a ticket of the account, it is answered by the grant.',
    confirms: true,
    params: oneGroup,
    body: z.strictObject({ ticketId: id.optional() }),
    answer: accountGroupsView,
    refusals: ['second_person_required'],
  }),
  withdraw: forAdmins.delete('withdrawGroup', '/api/admin/accounts/{accountId}/groups/{group}', {
    summary: 'Remove access to a group. Safe to repeat.',
    description:
      'Calls with keys of the group that are charged from now on are refused, unless the group is open to everybody.',
    params: oneGroup,
    answer: accountGroupsView,
    refusals: ['second_person_required'],
  }),
};
