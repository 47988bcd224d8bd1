import { z } from 'zod';
import { timeView } from '#platform/http/fields.js';
import { channelHealthView, programView } from '#operations/program.view.js';
import { probeFindings } from '#upstream/health/probe.js';
import { channelId } from '../catalog/channel.fields.js';
import { routesFor } from '../http/route.js';

const params = z.strictObject({ channelId });

const forAdmins = routesFor(['admin'], 'Programs');

export const programRoutes = {
  list: forAdmins.get('listPrograms', '/api/admin/programs', {
    summary: 'Get the live status of every process.',
    description: 'A process that died is listed as silent for an hour.',
    answer: z.object({
      items: z.array(programView),
      deadLetters: z.int().describe('Messages that nobody has reviewed yet.'),
      runningTasks: z.int(),
      at: timeView,
    }),
  }),
  channels: forAdmins.get('listChannelHealth', '/api/admin/channel-health', {
    summary: 'Get the health of every channel, by process.',
    answer: z.object({ items: z.array(channelHealthView) }),
  }),
  channel: forAdmins.get('getChannelHealth', '/api/admin/channels/{channelId}/health', {
    summary: 'Get the health of a channel.',
    params,
    answer: channelHealthView,
  }),
  test: forAdmins.post('testChannel', '/api/admin/channels/{channelId}/tests', {
    summary: 'Test each key of an upstream with a free request.',
    description:
      'Sends a free request, such as listing models. It holds no credits and does not affect customers.',
    params,
    answer: z.object({
      ok: z.boolean(),
      trials: z.array(
        z.object({
          key: z.int().describe("The position of the key, starting at 1, in the channel's `keyMarks`."),
          keyMark: z.string(),
          verdict: z.enum(['ok', 'unsure', 'failed']),
          path: z.string(),
          status: z.int().nullable(),
          latencyMs: z.int(),
          finding: z.enum(probeFindings),
          detail: z.string().describe('The finding as a sentence.'),
        }),
      ),
    }),
  }),
};
