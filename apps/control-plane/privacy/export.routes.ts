import { z } from 'zod';
import { id, timeView } from '#platform/http/fields.js';
import { route } from '../http/route.js';

const tag = 'Privacy';

const exportView = z
  .object({
    id: z.string(),
    state: z.enum(['requested', 'running', 'ready', 'failed', 'expired']),
    requestedAt: timeView,
    readyAt: timeView.nullable(),
    expiresAt: timeView.nullable().meta({ description: 'Until when it can be downloaded.' }),
    bytes: z.number().int(),
    failure: z
      .enum(['too_large', 'failed'])
      .nullable()
      .meta({ description: '`too_large`: write to support.' }),
  })
  .meta({ id: 'DataExport' });

export const exportRoutes = {
  list: route({
    id: 'listDataExports',
    method: 'GET',
    path: '/api/data-exports',
    tag,
    summary: 'The exports of your data, the newest first.',
    access: ['user'],
    underView: 'refused',
    answer: z.object({ items: z.array(exportView) }),
  }),
  request: route({
    id: 'requestDataExport',
    method: 'POST',
    path: '/api/data-exports',
    tag,
    summary: 'Asks for an archive of your data; while one is made, that one is answered.',
    access: ['user'],
    confirms: true,
    body: z.strictObject({ password: z.string().min(1).max(200) }),
    answer: exportView,
    status: 202,
    refusals: ['too_many_attempts'],
  }),
  download: route({
    id: 'downloadDataExport',
    method: 'GET',
    path: '/api/data-exports/{exportId}/archive',
    tag,
    summary: 'The archive: a zip file of JSON Lines.',
    access: ['user'],
    confirms: true,
    underView: 'refused',
    params: z.strictObject({ exportId: id }),
    produces: ['application/zip'],
  }),
};
