import { z } from 'zod';
import { letterFaults, letterObstacles } from '#operations/dead-letter.service.js';
import { timeView, numberText, wordView } from '#platform/http/fields.js';
import { routesFor } from '../http/route.js';

const word = z.string().max(200);

const letterView = z
  .object({
    id: numberText,
    topic: z.string(),
    group: z.string().describe('The consumer group that could not handle it.'),
    partition: z.int(),
    offset: z.string(),
    key: z.string().nullable(),
    about: z.string().nullable().describe('The subject; for topics about money, the charge.'),
    fault: wordView(letterFaults).describe(
      '`unreadable`: the message is not one of its topic; `failed`: its handler failed.',
    ),
    reason: z.string().describe('The error, in English.'),
    at: timeView,
    canReplay: z.boolean(),
    obstacle: wordView(letterObstacles).nullable().describe('Why it cannot be replayed. Null if it can.'),
    effect: z.string().describe('What a replay would do, or why it is not possible, in English.'),
    replayedAt: timeView.nullable(),
    replayedBy: z.string().nullable(),
  })
  .meta({ id: 'DeadLetter' });
const wholeLetter = letterView
  .extend({
    payload: z.string().nullable().describe('The message as received, readable or not.'),
  })
  .meta({ id: 'WholeDeadLetter' });

const params = z.strictObject({
  letterId: z.string().regex(/^[1-9]\d{0,17}$/, 'must be the id of a letter'),
});

const forAdmins = routesFor(['admin'], 'Dead letters');

export const deadLetterRoutes = {
  list: forAdmins.list(letterView)('listDeadLetters', '/api/admin/dead-letters', {
    summary: 'List messages that could not be handled, newest first.',
    query: {
      topic: word.optional(),
      group: word.optional(),
      about: word.optional(),
      replayed: z.enum(['true', 'false']).optional(),
    },
  }),
  show: forAdmins.get('getDeadLetter', '/api/admin/dead-letters/{letterId}', {
    summary: 'Get a dead letter with its message.',
    params,
    answer: wholeLetter,
  }),
  replay: forAdmins.post('replayDeadLetter', '/api/admin/dead-letters/{letterId}/replays', {
    summary: 'Replay a dead letter once. If it fails again, there is a new letter.',
    description: 'Hold requests cannot be replayed: the caller has already received another answer.',
    params,
    answer: wholeLetter,
    refusals: ['conflict'],
  }),
};
