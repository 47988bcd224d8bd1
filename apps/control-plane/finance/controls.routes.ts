import { findingShape } from '#finance/findings.js';
import { z } from 'zod';
import { countView, openTimeView, numberText, wordView } from '#platform/http/fields.js';
import { controlFaults } from '#finance/control-run.js';
import { routesFor } from '../http/route.js';

const controlId = z.string().regex(/^[a-z][a-z0-9-]{0,60}$/, 'must be the id of a control');
const findingId = z.string().regex(/^\d{1,18}$/, 'must be a whole number');

const count = countView
  .nullable()
  .describe('The number of findings, which should be 0. Null if the control could not run.');
const durationMs = z.int().nullable();
const fault = wordView(controlFaults).nullable().describe('Why the control could not run.');
const error = z.string().nullable().describe('The same as an English sentence.');

const standingView = z
  .object({
    id: z.string(),
    title: z.string(),
    explanation: z.string(),
    every: z.enum(['round', 'day']).describe('How often it is scheduled.'),
    state: z.enum(['green', 'red', 'error', 'never']),
    count,
    durationMs,
    fault,
    error,
    lastRunAt: openTimeView,
    horizon: openTimeView.describe('The books were final up to this time in that run.'),
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
    summary: 'Count the open findings of each control for each of the last 28 UTC days, including today.',
    answer: z.object({
      days: z.array(z.string()),
      items: z.array(z.object({ id: z.string(), findings: z.array(countView) })),
    }),
  }),
  run: forFinance.post('runControls', '/api/finance/controls/run', {
    summary: 'Run controls now.',
    description:
      'Runs the named controls, or all except the daily ones. A control that takes longer than 30 seconds is stopped.',
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
          fault,
          error,
        }),
      ),
    }),
    refusals: ['conflict'],
  }),
  findings: forFinance.list(findingShape)('listFindings', '/api/finance/controls/{controlId}/findings', {
    summary: 'List the findings of a control, newest first.',
    params: z.strictObject({ controlId }),
    query: findingQuery,
    csv: ['downloadFindings', 'Download the findings of a control as CSV.'],
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
