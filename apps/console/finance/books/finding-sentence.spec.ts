import { expect, it } from 'vitest';
import { isNamed } from './finding-sentence.js';

it.each([
  ['transaction:5', 'Amount differs: $5.00', false],
  ['transaction:5', 'Transaction 5 is missing, with all its entries.', true],
  ['transaction:5', '科目 5（5.00）不符。', true],
  ['payment:stripe:pi_1', 'Payment pi_12 of $5.00 is not in our books.', false],
  ['payment:stripe:pi_1', 'Payment is not in our books: pi_1.', true],
  ['cost:dead:vendor/image', 'The cost of vendor/image is unknown.', true],
])('knows whether %s is named in "%s"', (subject, words, named) => {
  expect(isNamed(subject, words)).toBe(named);
});
