import { z } from 'zod';
import { namedKinds } from '#people/names.reader.js';
import { routesFor } from '../http/route.js';

const MOST = 100;
const REF = new RegExp(
  `^(${namedKinds.join('|')}):[0-9a-z]{26}(,(${namedKinds.join('|')}):[0-9a-z]{26}){0,${MOST - 1}}$`,
);

export const nameRoutes = {
  read: routesFor(['support', 'finance', 'admin'], 'Accounts').get('readNames', '/api/support/names', {
    summary: 'Get the names of accounts, people and keys.',
    description: 'Leaves out IDs that are unknown or no longer have a name.',
    query: z.strictObject({
      of: z
        .string()
        .regex(
          REF,
          `must be at most ${MOST} ids, each with its kind, such as account:{id},user:{id},key:{id}`,
        )
        .meta({ examples: ['account:01hzzzzzzzzzzzzzzzzzzzzzzz'] }),
    }),
    answer: z.object({
      items: z.array(z.object({ kind: z.enum(namedKinds), id: z.string(), name: z.string() })),
    }),
  }),
};
