import { routesFor } from '../http/route.js';

const HTML = ['text/html'] as const;

const forAll = routesFor('public', 'Payments');

/** The page of the sandbox provider. As at any provider, anyone who has its address may pay. */
export const sandboxRoutes = {
  page: forAll.get('showSandboxPayment', '/sandbox-pay/{orderId}', {
    summary: 'Show the payment page of the sandbox provider, if it is enabled.',
    produces: HTML,
  }),
  pay: forAll.post('paySandboxOrder', '/sandbox-pay/{orderId}/pay', {
    summary: 'Pay the order.',
    status: 303,
  }),
  cancel: forAll.post('cancelSandboxOrder', '/sandbox-pay/{orderId}/cancel', {
    summary: 'Cancel the order.',
    status: 303,
  }),
};
