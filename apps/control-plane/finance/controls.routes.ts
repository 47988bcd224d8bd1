import { z } from 'zod';
import { pageOf, pageQuery, countView, openTimeView, numberText } from '#platform/http/fields.js';
import { findingShape } from '#finance/views/controls.view.js';
import { routesFor } from '../http/route.js';

const controlId = z.string().regex(/^[a-z][a-z0-9-]{0,60}$/, 'must be the id of a control');
const findingId = z.string().regex(/^\d{1,18}$/, 'must be a whole number');

const count = countView.nullable().meta({ description: 'What should be 0; null when it could not look.' });
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
    lastRunAt: openTimeView,
    horizon: openTimeView.meta({ description: 'Up to where the books were certain in that run.' }),
    openFindings: countView,
    unacknowledged: countView,
  })
  .meta({ id: 'ControlStanding' });
const findingQuery = {
  state: z.enum(['open', 'resolved', 'all']).default('open'),
};

const forFinance = routesFor(['finance'], 'Controls');

export const controlRoutes = {
  list: forFinance.get('listControls', '/api/finance/controls', {
    summary: 'List the controls with the result of their last run.',
    answer: z.object({ items: z.array(standingView) }),
  }),
  days: forFinance.get('listFindingDays', '/api/finance/control-days', {
    summary:
      'Count the findings that each control had open on each of the last 28 days (UTC), today included.',
    answer: z.object({
      days: z.array(z.string()),
      items: z.array(z.object({ id: z.string(), findings: z.array(countView) })),
    }),
  }),
  run: forFinance.post('runControls', '/api/finance/controls/run', {
    summary: 'Run controls now.',
    description:
      'Those that are named, or all but the daily ones. A query of a control that takes longer than half a minute is given up.',
    body: z.strictObject({ controls: z.array(controlId).min(1).max(100).optional() }),
    answer: z.object({
      runId: numberText,
      horizon: openTimeView,
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
  findings: forFinance.get('listFindings', '/api/finance/controls/{controlId}/findings', {
    summary: 'List the findings of a control, newest first.',
    params: z.strictObject({ controlId }),
    query: z.strictObject({ ...pageQuery, ...findingQuery }),
    answer: pageOf(findingShape),
  }),
  findingsCsv: forFinance.csv('downloadFindings', '/api/finance/controls/{controlId}/findings.csv', {
    summary: 'Download the findings of a control as CSV.',
    params: z.strictObject({ controlId }),
    query: z.strictObject(findingQuery),
  }),
  acknowledge: forFinance.post(
    'acknowledgeFinding',
    '/api/finance/controls/{controlId}/findings/{findingId}/acknowledge',
    {
      summary: 'Acknowledge a finding. It stays open until its control no longer finds it.',
      params: z.strictObject({ controlId, findingId }),
      body: z.strictObject({ note: z.string().trim().max(2_000).default('') }),
      answer: findingShape,
      refusals: ['conflict'],
    },
  ),
};
