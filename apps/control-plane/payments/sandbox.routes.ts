import { z } from 'zod';
import { id } from '#platform/http/fields.js';
import { route } from '../http/route.js';

const params = z.strictObject({ orderId: id });
const HTML = ['text/html'] as const;

/** The page of the sandbox provider. As at any provider, whoever has its address may pay. */
export const sandboxRoutes = {
  page: route({
    id: 'showSandboxPayment',
    method: 'GET',
    path: '/sandbox-pay/{orderId}',
    tag: 'Payments',
    summary: 'The page where an order of the sandbox provider is paid; absent unless it is enabled.',
    access: 'public',
    params,
    produces: HTML,
  }),
  pay: route({
    id: 'paySandboxOrder',
    method: 'POST',
    path: '/sandbox-pay/{orderId}/pay',
    tag: 'Payments',
    summary: 'The button that pays.',
    access: 'public',
    params,
    status: 303,
  }),
  cancel: route({
    id: 'cancelSandboxOrder',
    method: 'POST',
    path: '/sandbox-pay/{orderId}/cancel',
    tag: 'Payments',
    summary: 'The button that gives the order up.',
    access: 'public',
    params,
    status: 303,
  }),
};
