import { describe, expect, it } from 'vitest';
import { decodeLeaves, encodeLeaves, type HashesById, TURN_TRANSACTIONS } from './chain-leaves.js';
import { HASH_BYTES } from './chain-text.js';

const TRANSACTIONS = TURN_TRANSACTIONS * 5 + 1;

function hashesOf(count: number): HashesById {
  const ids = Array.from({ length: count }, (_, index) => 1_000 + index * 3);
  return { ids, hashes: Buffer.alloc(count * HASH_BYTES, 7) };
}

describe('the leaves of a block', () => {
  it('are written in pieces, between which others get their turn', async () => {
    const between: number[] = [0];
    const countTurns = (): void => {
      between.push(0);
      turns = setImmediate(countTurns);
    };
    let turns = setImmediate(countTurns);
    const rowSums = (): number[] => {
      between[between.length - 1]! += 1;
      return [1, 2];
    };
    const sealed = { accounts: hashesOf(2), transactions: hashesOf(TRANSACTIONS), rowSums };
    const bytes = await encodeLeaves(sealed, TRANSACTIONS * 2).finally(() => clearImmediate(turns));
    const leaves = decodeLeaves(bytes);
    expect(leaves.transactionIds).toEqual(sealed.transactions.ids);
    expect(between.reduce((sum, count) => sum + count)).toBe(TRANSACTIONS);
    expect(Math.max(...between)).toBe(TURN_TRANSACTIONS);
  });
});
