import { createHash } from 'node:crypto';

/**
 * sha256 of balances as a text that anyone can write again: a line for each account that is not at 0, in the order of the
 * bytes of its code, with code, commodity and balance in whole units of the ledger (nanos, minor units), apart by tabs.
 */
export function hashBalances(
  balances: readonly { code: string; commodity: string; balance: bigint }[],
): Buffer {
  const hash = createHash('sha256');
  const byCode = balances
    .filter(({ balance }) => balance !== 0n)
    .map((line) => ({ ...line, bytes: Buffer.from(line.code) }))
    .sort((a, b) => Buffer.compare(a.bytes, b.bytes));
  for (const { code, commodity, balance } of byCode) hash.update(`${code}\t${commodity}\t${balance}\n`);
  return hash.digest();
}
