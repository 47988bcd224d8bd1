import { expect, it } from 'vitest';
import { nanos, parseAmount } from '#money/amount.js';
import { dueClawback, inviteReward, movableOf } from './reward.js';

it('rewards the first two top-ups with a tenth, rounded down, and no other', () => {
  expect(inviteReward(parseAmount('10'), 1)).toBe(parseAmount('1'));
  expect(inviteReward(parseAmount('10'), 2)).toBe(parseAmount('1'));
  expect(inviteReward(parseAmount('10'), 3)).toBe(0n);
  expect(inviteReward(nanos(19n), 1)).toBe(1n);
});

it('takes a reward back in proportion to what was reversed of its top-up, rounded down, and once', () => {
  const reward = { amount: 10n, credits: 100n, reversed: 0n, clawedBack: 0n };
  expect(dueClawback(reward)).toBe(0n);
  expect(dueClawback({ ...reward, reversed: 59n })).toBe(5n);
  expect(dueClawback({ ...reward, reversed: 100n, clawedBack: 5n })).toBe(5n);
  expect(dueClawback({ ...reward, reversed: 59n, clawedBack: 5n })).toBe(0n);
});

it('lets people transfer everything but a young reward, and never less than nothing', () => {
  const pending = [{ amount: 3n }, { amount: 4n }];
  expect(movableOf(10n, [])).toBe(10n);
  expect(movableOf(10n, pending)).toBe(3n);
  expect(movableOf(6n, pending)).toBe(0n);
});
