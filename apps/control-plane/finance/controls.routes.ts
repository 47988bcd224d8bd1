import { z } from 'zod';
import { pageOf, pageQuery, timeView } from '#platform/http/fields.js';
import { findingShape } from '#finance/views/controls.view.js';
import { route } from '../http/route.js';

const FINANCE = ['finance'] as const;
const tag = 'Controls';

const controlId = z.string().regex(/^[a-z][a-z0-9-]{0,60}$/, 'must be the id of a control');
const findingId = z.string().regex(/^\d{1,18}$/, 'must be a whole number');

const count = z
  .number()
  .int()
  .nullable()
  .meta({ description: 'What should be 0; null when it could not look.' });
const durationMs = z.number().int().nullable();
const error = z.string().nullable().meta({ description: 'Why it could not look.' });

const standingView = z
  .object({
    id: z.string(),
    title: z.string(),
    explanation: z.string(),
    every: z.enum(['round', 'day']).meta({ description: 'How often the schedule runs it.' }),
    state: z.enum(['green', 'red', 'error', 'never']),
    count,
    durationMs,
    error,
    lastRunAt: timeView.nullable(),
    horizon: timeView.nullable().meta({ description: 'Up to where the books were certain in that run.' }),
    openFindings: z.number().int(),
    unacknowledged: z.number().int(),
  })
  .meta({ id: 'ControlStanding' });
const findingQuery = {
  state: z.enum(['open', 'resolved', 'all']).default('open'),
};

export const controlRoutes = {
  list: route({
    id: 'listControls',
    method: 'GET',
    path: '/api/finance/controls',
    tag,
    summary: 'The controls of the books, and how each stood when it last looked.',
    access: FINANCE,
    answer: z.object({ items: z.array(standingView) }),
  }),
  run: route({
    id: 'runControls',
    method: 'POST',
    path: '/api/finance/controls/run',
    tag,
    summary: 'Run controls now.',
    description:
      'Those that are named, or all but the daily ones. A query of a control that takes longer than half a minute is given up.',
    access: FINANCE,
    body: z.strictObject({ controls: z.array(controlId).min(1).max(100).optional() }),
    answer: z.object({
      runId: z.string(),
      horizon: timeView.nullable(),
      controls: z.array(
        z.object({
          id: z.string(),
          state: z.enum(['green', 'red', 'error']),
          count,
          durationMs,
          error,
        }),
      ),
    }),
    refusals: ['conflict'],
  }),
  findings: route({
    id: 'listFindings',
    method: 'GET',
    path: '/api/finance/controls/{controlId}/findings',
    tag,
    summary: 'What a control found, newest first.',
    access: FINANCE,
    params: z.strictObject({ controlId }),
    query: z.strictObject({ ...pageQuery, ...findingQuery }),
    answer: pageOf(findingShape),
  }),
  findingsCsv: route({
    id: 'downloadFindings',
    method: 'GET',
    path: '/api/finance/controls/{controlId}/findings.csv',
    tag,
    summary: 'What a control found, as a file.',
    access: FINANCE,
    params: z.strictObject({ controlId }),
    query: z.strictObject(findingQuery),
    produces: ['text/csv'],
  }),
  acknowledge: route({
    id: 'acknowledgeFinding',
    method: 'POST',
    path: '/api/finance/controls/{controlId}/findings/{findingId}/acknowledge',
    tag,
    summary: 'Say that you look at a finding. It stays open until its control does not see it any more.',
    access: FINANCE,
    params: z.strictObject({ controlId, findingId }),
    body: z.strictObject({ note: z.string().trim().max(2_000).default('') }),
    answer: findingShape,
    refusals: ['conflict'],
  }),
};
