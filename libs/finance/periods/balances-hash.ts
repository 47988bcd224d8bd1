import { createHash } from 'node:crypto';

/**
 * SHA-256 of the balances as a text that anyone can reproduce: a line for each account with a balance other than 0, ordered by
 * the bytes of its code, with code, commodity and balance in the smallest units of the ledger (nanos, minor units), separated
 * by tabs.
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
