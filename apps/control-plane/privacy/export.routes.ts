import { z } from 'zod';
import { timeView } from '#platform/http/fields.js';
import { routesFor } from '../http/route.js';

const exportView = z
  .object({
    id: z.string(),
    state: z.enum(['requested', 'running', 'ready', 'failed', 'expired']),
    requestedAt: timeView,
    readyAt: timeView.nullable(),
    expiresAt: timeView.nullable().describe('Available for download until this time.'),
    bytes: z.int(),
    failure: z.enum(['too_large', 'failed']).nullable().describe('`too_large`: contact support.'),
  })
  .meta({ id: 'DataExport' });

const forUsers = routesFor(['user'], 'Privacy');

export const exportRoutes = {
  list: forUsers.get('listDataExports', '/api/data-exports', {
    summary: 'List exports of your data, newest first.',
    underView: 'refused',
    answer: z.object({ items: z.array(exportView) }),
  }),
  request: forUsers.post('requestDataExport', '/api/data-exports', {
    summary: 'Request an export of your data, or get the one in progress.',
    confirms: true,
    body: z.strictObject({ password: z.string().min(1).max(200) }),
    answer: exportView,
    status: 202,
    refusals: ['too_many_attempts'],
  }),
  download: forUsers.get('downloadDataExport', '/api/data-exports/{exportId}/archive', {
    summary: 'Download an export: a zip file of JSON Lines.',
    confirms: true,
    underView: 'refused',
    produces: ['application/zip'],
    refusals: ['too_many_attempts'],
  }),
};
