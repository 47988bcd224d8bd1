import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type LotEvent, replayLots } from './lots.js';

const lot = (lotId: bigint, credits: bigint): LotEvent => ({ kind: 'lot', lotId, credits });
const use = (amount: bigint, key: string | null = null, isDebt = false): LotEvent => ({
  ...{ kind: 'use', key, isDebt, amount },
});
const restore = (key: string, amount: bigint): LotEvent => ({ kind: 'restore', key, amount });
const change = (lotId: bigint, credits: bigint): LotEvent => ({ kind: 'change', lotId, credits });

function unusedAfter(...events: LotEvent[]): bigint[] {
  return [...replayLots(events).unused.values()];
}

describe('lots', () => {
  it('are used first in, first out', () => {
    expect(unusedAfter(lot(1n, 10n), lot(2n, 10n), use(4n), use(9n))).toEqual([0n, 7n]);
  });

  it('get back what a refunded charge took from them, and not what was used last', () => {
    const events = [lot(1n, 10n), lot(2n, 10n), use(10n, 'a'), use(4n)];
    expect(unusedAfter(...events, restore('a', 10n))).toEqual([10n, 6n]);
    expect(unusedAfter(...events, restore('a', 10n), use(3n))).toEqual([7n, 6n]);
  });

  it('give what they still hold to a refund, and only that', () => {
    expect(unusedAfter(lot(1n, 10n), use(3n), change(1n, -7n), lot(2n, 5n), use(1n))).toEqual([0n, 4n]);
  });

  it('cover a debt as soon as they come, in order', () => {
    const events = [lot(1n, 10n), use(8n), change(1n, -2n), use(8n, 'dispute', true)];
    expect(replayLots(events)).toMatchObject({ unmet: 8n });
    const after = replayLots([...events, lot(2n, 5n), lot(3n, 5n)]);
    expect(after.usedByDebt).toEqual(
      new Map([
        [2n, 5n],
        [3n, 3n],
      ]),
    );
    expect(after).toMatchObject({
      unmet: 0n,
      unused: new Map([
        [1n, 0n],
        [2n, 0n],
        [3n, 2n],
      ]),
    });
  });

  it('are as before when the dispute is won', () => {
    const before = [lot(1n, 10n), use(8n), lot(2n, 20n)];
    const lost = [...before, change(1n, -2n), use(8n, 'dispute', true)];
    expect(unusedAfter(...lost)).toEqual([0n, 12n]);
    expect(unusedAfter(...lost, change(1n, 2n), restore('dispute', 8n))).toEqual(unusedAfter(...before));
  });

  it('never lose or invent credits', () => {
    const amount = fc.bigInt({ min: 1n, max: 20n });
    const event = fc.oneof(
      amount.map((credits) => ({ kind: 'lot' as const, credits })),
      fc.record({ kind: fc.constant('use' as const), amount, isDebt: fc.boolean() }),
      fc.record({
        kind: fc.constant('restore' as const),
        of: fc.nat(20),
        part: fc.integer({ min: 1, max: 3 }),
      }),
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), (drawn) => {
        const events: LotEvent[] = [];
        const left: bigint[] = [];
        let total = 0n;
        for (const each of drawn) {
          if (each.kind === 'lot') {
            total += each.credits;
            events.push(lot(BigInt(events.length), each.credits));
          } else if (each.kind === 'use') {
            total -= each.amount;
            events.push(use(each.amount, String(left.push(each.amount) - 1), each.isDebt));
          } else {
            const back = (left[each.of] ?? 0n) / BigInt(each.part);
            if (back === 0n) continue;
            total += back;
            left[each.of] = (left[each.of] as bigint) - back;
            events.push(restore(String(each.of), back));
          }
        }
        const { unused, unmet } = replayLots(events);
        const sum = [...unused.values()].reduce((all, one) => all + one, 0n);
        expect(sum - unmet).toBe(total);
        expect(sum === 0n || unmet === 0n).toBe(true);
        expect([...unused.values()].every((one) => one >= 0n)).toBe(true);
      }),
    );
  });
});
