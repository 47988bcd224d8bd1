import { expect, it } from '@jest/globals';
import { nanos, parseAmount } from '#money/amount.js';
import { inviteReward } from './reward.js';

it('rewards the first two top-ups with a tenth, rounded down, and no other', () => {
  expect(inviteReward(parseAmount('10'), 1)).toBe(parseAmount('1'));
  expect(inviteReward(parseAmount('10'), 2)).toBe(parseAmount('1'));
  expect(inviteReward(parseAmount('10'), 3)).toBe(0n);
  expect(inviteReward(nanos(19n), 1)).toBe(1n);
});
