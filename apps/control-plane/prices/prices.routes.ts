import { z } from 'zod';
import { amountView, queryFlag, refusedRowView, time, timeView } from '#platform/http/fields.js';
import { priceFaultCodes } from '#marketplace/prices/price-fault.js';
import { largeMoveCodes } from '#marketplace/prices/price-move.js';
import { changeFields, changesField, noteField } from '#marketplace/prices/price-change.fields.js';
import { routesFor } from '../http/route.js';

const PROPOSALS = '/api/admin/price-proposals';
const PRICES = '/api/admin/prices';
export const effectiveAt = time
  .nullable()
  .default(null)
  .describe('When the changes take effect: now or later. Null means on confirmation.');

/** Changes as they are shown: the same shape as they are given in. */
const changeView = changeFields;

const decided = { decidedBy: z.string().nullable(), decidedAt: timeView.nullable() };

const proposalView = z
  .object({
    id: z.string(),
    revision: z.int(),
    state: z.enum(['open', 'confirmed', 'cancelled', 'expired']),
    note: z.string(),
    effectiveAt: timeView.nullable(),
    changes: z.array(
      z.object({
        change: changeView,
        before: changeView.nullable().describe('What would apply at that time without the change.'),
      }),
    ),
    proposedBy: z.string(),
    revisedBy: z.string().nullable().describe('The author of the latest revision, if revised.'),
    confirmedAlone: z
      .boolean()
      .describe(
        'Whether the author alone confirmed a proposal that needs two people, because the installation is declared to have only one.',
      ),
    proposedAt: timeView,
    expiresAt: timeView,
    ...decided,
  })
  .meta({ id: 'PriceProposal' });

const proposalSummary = proposalView
  .omit({ changes: true })
  .extend({ changes: z.int() })
  .meta({ id: 'PriceProposalSummary' });

const proposalDetail = proposalView
  .extend({
    outdated: z
      .array(z.string())
      .describe('Conflicting changes made since the proposal. It can be confirmed while this is empty.'),
    needsSecondPerson: z
      .object({
        code: z.enum(largeMoveCodes),
        change: changeView.nullable().describe('The change that it is about. Null for `moves_far`.'),
        percent: z.int().describe('How far one person may move prices within a day.'),
        message: z.string(),
      })
      .nullable()
      .describe('Why someone other than the author must confirm it. Null if the author can.'),
  })
  .meta({ id: 'PriceProposalDetail' });

const newProposal = z.strictObject({ changes: changesField, effectiveAt, note: noteField.default('') });
const atRevision = z.int().min(1).describe('The revision that you reviewed.');

const totals = {
  requests: z.int(),
  accounts: z.int().describe('The number of distinct customers who made them.'),
  charged: amountView.describe('What the requests cost.'),
  current: amountView.describe('What the requests would cost at that time without the changes.'),
  proposed: amountView.describe('What the requests would cost with the changes.'),
  difference: amountView.describe('`proposed` − `current`. May be negative.'),
};

const previewView = z
  .object({
    from: timeView,
    to: timeView,
    ...totals,
    rows: z.array(
      z.object({
        model: z.string(),
        group: z.string(),
        ...totals,
        wouldBeRefused: z
          .boolean()
          .describe(
            'Whether the changes withdraw the model from the group. Its requests then count as costing nothing.',
          ),
      }),
    ),
  })
  .meta({ id: 'PricePreview' });

const comparedRow = z
  .object({ line: z.int(), change: changeView, before: changeView.nullable() })
  .meta({ id: 'ComparedPrice' });

export const importAnswer = z
  .object({
    dryRun: z.boolean(),
    added: z.array(comparedRow),
    changed: z.array(comparedRow),
    same: z.int().describe('Rows that match what is in force at that time.'),
    refused: z.array(refusedRowView(priceFaultCodes)),
    proposal: proposalSummary
      .nullable()
      .describe('Null for a dry run, if a row was refused, or if nothing changes.'),
  })
  .meta({ id: 'PriceImport' });

const dryRun = queryFlag('Only check the file. Nothing is changed.');

const forAdmins = routesFor(['admin'], 'Prices');
const forReaders = routesFor(['admin', 'finance'], 'Prices');

export const pricesRoutes = {
  propose: forAdmins.post('proposePrices', PROPOSALS, {
    summary: 'Propose new prices, multipliers or group rules.',
    description: 'Nothing changes until the proposal is confirmed. Check its preview first.',
    body: newProposal,
    answer: proposalDetail,
    status: 201,
  }),
  list: forReaders.list(proposalSummary)('listPriceProposals', PROPOSALS, {
    summary: 'List proposals, newest first.',
    query: { state: z.enum(['open', 'all']).default('all') },
  }),
  show: forReaders.get('getPriceProposal', `${PROPOSALS}/{proposalId}`, {
    summary: 'Get a proposal and what has changed since.',
    answer: proposalDetail,
  }),
  revise: forAdmins.patch('revisePriceProposal', `${PROPOSALS}/{proposalId}`, {
    summary: 'Replace the changes of an open proposal, based on current prices.',
    body: newProposal.extend({ revision: atRevision }),
    answer: proposalDetail,
    refusals: ['conflict'],
  }),
  preview: forReaders.get('previewPriceProposal', `${PROPOSALS}/{proposalId}/preview`, {
    summary: 'Preview what past requests would cost under a proposal.',
    description:
      'Reprices requests of the last 24 hours, or another range of at most 31 days, with the code that prices holds. Lists only the models and groups affected by the proposal.',
    query: z.strictObject({ from: time.optional(), to: time.optional() }),
    answer: previewView,
  }),
  confirm: forAdmins.post('confirmPriceProposal', `${PROPOSALS}/{proposalId}/confirm`, {
    summary: 'Confirm a proposal.',
    description:
      'Refused with `conflict` if the same prices have changed since the proposal, or if its effective time has passed. Amounts already held keep their price; every hold after the effective time has the new one.',
    confirms: true,
    body: z.strictObject({ revision: atRevision }),
    answer: proposalDetail,
    refusals: ['second_person_required', 'conflict'],
  }),
  cancel: forAdmins.post('cancelPriceProposal', `${PROPOSALS}/{proposalId}/cancel`, {
    summary: 'Cancel a proposal.',
    body: z.strictObject({ revision: atRevision }),
    answer: proposalDetail,
    refusals: ['conflict'],
  }),
  exportJson: forReaders.get('exportPrices', `${PRICES}/export`, {
    summary: 'Export current prices, multipliers and rules in the import format.',
    answer: z.object({ exportedAt: timeView, rows: z.array(changeView) }),
  }),
  exportCsv: forReaders.csv('exportPricesCsv', `${PRICES}/export.csv`, {
    // An import compares it with what is in force at that moment.
    reads: 'primary',
    summary: 'Export current prices, multipliers and rules as CSV.',
  }),
  importJson: forAdmins.post('importPrices', `${PRICES}/import`, {
    summary: 'Compare a price list with current prices and propose the differences.',
    body: z.strictObject({
      rows: z.array(z.unknown()).min(1, 'must hold a row'),
      effectiveAt,
      note: noteField.default('Import'),
      dryRun: z.boolean().default(false),
    }),
    answer: importAnswer,
  }),
  importCsv: forAdmins.post('importPricesCsv', `${PRICES}/import.csv`, {
    summary: 'Import a price list from a CSV file.',
    query: z.strictObject({
      effectiveAt: time.optional(),
      note: noteField.default('Import'),
      dryRun,
    }),
    body: z.string(),
    consumes: 'text/csv',
    answer: importAnswer,
  }),
};
