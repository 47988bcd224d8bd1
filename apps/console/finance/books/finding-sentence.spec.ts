import { expect, it } from 'vitest';
import { isNamed } from './finding-sentence.js';

it.each([
  ['transaction:5', 'Amount differs: {{amount}}', { transaction: '5', amount: '5 USD' }, false],
  ['transaction:5', 'Transaction {{transaction}} is missing.', { transaction: '5' }, true],
  ['payment:stripe:pi_1', 'Payment {{reference}} is not in our books.', { reference: 'pi_12' }, false],
  ['payment:stripe:pi_1', '我方账上没有收款 {{reference}}。', { reference: 'pi_1' }, true],
  ['cost:dead:vendor/image', 'The cost of {{model}} is unknown.', { model: 'vendor/image' }, true],
  ['period:5', 'The balances differ.', {}, false],
])('knows whether %s is named in "%s"', (subject, text, details, named) => {
  expect(isNamed(subject, text, details)).toBe(named);
});
