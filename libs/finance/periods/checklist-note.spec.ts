import { expect, it } from 'vitest';
import { inEnglish, note } from './checklist-note.js';

it.each([
  ['charge:one', 'Charge one has no work.', { charge: 'one' }],
  ['report:bank:main', 'No report covers the account (main).', { bankAccount: 'main' }],
  ['account:one', 'account:one owes and is not frozen.', {}],
])('says what %s is about, as its message does', (subject, message, details) => {
  expect(inEnglish(note('finding', { ...details, subject, message }))).toBe(message);
});

it.each([
  ['cost:dead:vendor/image', 'Their costs are unknown.', { model: 'vendor/image' }],
  ['payment:stripe:pi_1', 'Payment pi_12 is not in our books.', { reference: 'pi_12' }],
  ['transaction:5', 'The amount of 5 USD (5.00) differs.', { amount: '5 USD' }],
  ['transaction:5', 'The amounts differ: 15 and 5.00.', { transaction: '5' }],
])('puts %s before a message that does not name it', (subject, message, details) => {
  expect(inEnglish(note('finding', { ...details, subject, message }))).toBe(`${subject}: ${message}`);
});
