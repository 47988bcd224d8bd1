import { z } from 'zod';
import { time, numberText, reasonText } from '#platform/http/fields.js';
import { financeRequestId } from '#payments/payment.fields.js';
import { rateVersionView } from '#topup/account-rates.js';
import { topupRates } from '#topup/conversion.js';
import { routesFor } from '../http/route.js';

const rate = z.enum(topupRates);

export const rateView = z
  .object({
    accountId: z.string(),
    rate: rate.describe('The current price of one credit in the payment currency.'),
    verifiedTokens: numberText.describe("Tokens of charged calls with the account's keys."),
    thresholdTokens: numberText.describe('The tokens required for the reseller rate.'),
    versions: z.array(rateVersionView),
  })
  .meta({ id: 'AccountRate' });

const forReaders = routesFor(['support', 'finance', 'admin'], 'Rates');
const forAdmins = routesFor(['admin'], 'Rates');

export const rateRoutes = {
  show: forReaders.get('getAccountRate', '/api/support/accounts/{accountId}/rate', {
    summary: 'Get the rate history of an account and its verified volume.',
    answer: rateView,
  }),
  set: forAdmins.post('setAccountRate', '/api/admin/accounts/{accountId}/rate', {
    summary: 'Set the rate of an account from a given time. Existing orders keep their rate.',
    confirms: true,
    body: z.strictObject({
      rate,
      effectiveFrom: time.optional().describe('Default: now. Cannot be in the past.'),
      reason: reasonText,
      requestId: financeRequestId,
    }),
    answer: rateView,
    refusals: ['second_person_required', 'conflict'],
  }),
};
