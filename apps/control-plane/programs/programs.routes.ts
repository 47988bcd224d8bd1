import { z } from 'zod';
import { timeView } from '#platform/http/fields.js';
import { channelHealthView, programView } from '#operations/program.view.js';
import { channelId } from '../catalog/catalog.routes.js';
import { route } from '../http/route.js';

const tag = 'Programs';
const access = ['admin'] as const;

const params = z.strictObject({ channelId });

export const programRoutes = {
  list: route({
    id: 'listPrograms',
    method: 'GET',
    path: '/api/admin/programs',
    tag,
    summary: 'Live status of every process.',
    description: 'A program that died is listed for an hour, silent.',
    access,
    answer: z.object({
      items: z.array(programView),
      deadLetters: z.int().meta({ description: 'Messages that a person has not looked at.' }),
      runningTasks: z.int(),
      at: timeView,
    }),
  }),
  channels: route({
    id: 'listChannelHealth',
    method: 'GET',
    path: '/api/admin/channel-health',
    tag,
    summary: 'How every channel is, as each program meets it.',
    access,
    answer: z.object({ items: z.array(channelHealthView) }),
  }),
  channel: route({
    id: 'getChannelHealth',
    method: 'GET',
    path: '/api/admin/channels/{channelId}/health',
    tag,
    summary: 'How one channel is.',
    access,
    params,
    answer: channelHealthView,
  }),
  test: route({
    id: 'testChannel',
    method: 'POST',
    path: '/api/admin/channels/{channelId}/tests',
    tag,
    summary: 'Asks an upstream, with each of its keys, for something free.',
    description: 'Such as its list of models: it costs nothing, holds no money, and no customer notices.',
    access,
    params,
    answer: z.object({
      ok: z.boolean(),
      trials: z.array(
        z.object({
          key: z
            .int()
            .meta({ description: 'Which of the keys, from 1, as `keyMarks` of the channel lists them.' }),
          keyMark: z.string(),
          verdict: z.enum(['ok', 'unsure', 'failed']),
          path: z.string(),
          status: z.int().nullable(),
          latencyMs: z.int(),
          detail: z.string(),
        }),
      ),
    }),
  }),
};
