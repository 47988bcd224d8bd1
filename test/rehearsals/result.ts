import { verifyChain } from '#ledger/chain/chain-verify.js';
import { formatAmount } from '#money/amount.js';
import type { Deployment } from '../support/deployment.js';
import { type Shoppers, type Told, wasLost } from '../support/shoppers.js';
import type { Load } from './load.js';

/** A rehearsal needs something that this machine or clone does not have. */
export class CannotRunHere extends Error {}

export interface Result {
  name: string;
  fault: string;
  perSecond: number;
  /** Calls that got what they paid for. */
  answered: number;
  /** Calls that got an error. */
  failed: number;
  /** Calls whose connection broke, or whose client timed out after 60 s. */
  unanswered: number;
  /** Answers without a charge. */
  lost: number;
  /** Charges beyond those of the answers. */
  doubled: number;
  /** Credits that stayed held. */
  held: string;
  /** The time from the fault, or from its end if it lasts, until calls are served again. */
  recoveredMs: number;
  slowestMs: number;
  /** Violated promises; empty if all of them hold. */
  faults: string[];
}

interface Seen {
  relay: Deployment;
  load: Load;
  groups: readonly Shoppers[];
}

/** Charges per request: all of them, and the paid ones. */
const CHARGES = `
SELECT request_id AS "requestId", count(*)::int AS charges, count(*) FILTER (WHERE settled > 0)::int AS paid
FROM charges GROUP BY request_id`;

interface ChargedRequest {
  requestId: string | null;
  charges: number;
  paid: number;
}

const HELD = 'SELECT coalesce(sum(held), 0)::bigint AS held FROM customer_balances';

/** Compares every answer with the books, and the books with themselves. */
export async function resultOf({
  relay,
  load,
  groups,
}: Seen): Promise<Omit<Result, 'name' | 'fault' | 'perSecond' | 'recoveredMs'>> {
  for (const group of groups) await group.watch();
  const { pool } = relay.books;
  const calls = groups.flatMap((group) => group.told);
  const count = (fits: (call: Told) => boolean) => calls.filter(fits).length;
  const { rows: charged } = await pool.query<ChargedRequest>(CHARGES);
  const unanswered = count(wasLost);
  const held = (await pool.query<{ held: bigint }>(HELD)).rows[0]!.held;
  return {
    answered: count(({ status }) => status === 200),
    failed: count(({ status }) => status !== 200) - unanswered,
    unanswered,
    ...comparison(calls, charged),
    held: formatAmount(held),
    slowestMs: load.slowestMs,
    faults: await faultsOf(relay, groups),
  };
}

/**
 * An image needs a paid charge, and so does a video unless it failed. An error needs none, and a lost answer may have
 * one.
 */
function comparison(calls: readonly Told[], charged: readonly ChargedRequest[]) {
  const byRequest = new Map(charged.map((request) => [request.requestId, request]));
  const none = { charges: 0, paid: 0 };
  const owed = new Map<string | null, number>();
  let lost = 0;
  for (const call of calls) {
    if (call.status !== 200) continue;
    const { charges, paid } = byRequest.get(call.requestId) ?? none;
    owed.set(call.requestId, 1);
    if ((call.kind === 'image' ? paid : charges) === 0) lost += 1;
  }
  const beyond = charged.reduce((sum, { requestId, paid }) => {
    return sum + Math.max(0, paid - (owed.get(requestId) ?? 0));
  }, 0);
  return { lost, doubled: Math.max(0, beyond - calls.filter(wasLost).length) };
}

async function faultsOf(relay: Deployment, groups: readonly Shoppers[]): Promise<string[]> {
  const { books, ready } = relay;
  const unanswered = groups.reduce((sum, group) => sum + group.count(wasLost), 0);
  const accounts = await Promise.all(groups.map((group) => books.faultsOf(group.account, group.told)));
  const chain = await verifyChain(books.pool, { balances: true });
  return [
    ...(unanswered > 0 ? [`${unanswered} calls were not answered`] : []),
    ...accounts.flat(),
    ...(await books.ledgerFaults()),
    ...(await books.upstreamFaults(ready.sandboxUrl)),
    ...chain.findings.map((finding) => `the hash chain: ${finding.message}`),
    ...(chain.blocks > 0 ? [] : ['the hash chain has no block']),
  ];
}
