import { expect, it } from 'vitest';
import { closestTo } from './closest.js';

const pages = ['/overview', '/usage', '/tokens', '/finance/payments'].map((to) => ({ to }));

it.each([
  ['/usgae', '/usage'],
  ['/token', '/tokens'],
  ['/Finance/payment/list', '/finance/payments'],
])('%s is closest to %s', (path, to) => {
  const [first, ...others] = closestTo(path, pages);
  expect(first!.to).toBe(to);
  expect(others).toHaveLength(3);
});
