import type { Item } from '../../api/queries.js';

export type Person = Item<'/api/admin/people'>;

/** What people can be here beside customers. */
export const staffRoles = ['support', 'finance', 'admin'] as const;
