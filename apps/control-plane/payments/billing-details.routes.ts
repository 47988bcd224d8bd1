import { billingDetails, billingDetailsView } from '#payments/receipts/billing-details.js';
import { routesFor } from '../http/route.js';

const forUsers = routesFor(['user'], 'Account');
const path = '/api/account/billing-details';

export const billingDetailsRoutes = {
  show: forUsers.get('getBillingDetails', path, {
    summary: 'Get what receipts and statements say about you as the buyer.',
    answer: billingDetailsView,
  }),
  enter: forUsers.put('setBillingDetails', path, {
    summary: 'Set what receipts and statements say about you as the buyer.',
    description:
      'Applies to receipts of later top-ups, and to the statements of this month and later ones. Earlier receipts stay as they are.',
    body: billingDetails,
    answer: billingDetailsView,
    refusals: ['too_many_attempts'],
  }),
};
