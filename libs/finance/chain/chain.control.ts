import type pg from 'pg';
import { currentHead } from '#ledger/chain/chain.js';
import { type ChainFinding, chainFaults } from '#ledger/chain/chain-difference.js';
import { type ChainVerification, verifyChainOn } from '#ledger/chain/chain-verify.js';
import type { Control, ControlItem, ControlResult } from '../control.js';

/** The blocks that a round checks: the newest ones, and as many again that move through the chain. */
const NEWEST = 20n;
const WANDERING = 20n;
/** How far they move in one step of this length. */
const STEP_MS = 300_000;
/** Findings whose blocks are checked again, so that they stay open until fixed. */
const FINDINGS_KEPT = 20;

interface Range {
  from: bigint;
  to: bigint;
}

/** Checks what was sealed recently, a part of everything sealed before, and whether sealing keeps up. */
export const chainControl: Control = {
  id: 'chain',
  title: 'Hash chain, newest blocks',
  explanation:
    'Recomputes the newest blocks and a sample of older ones from their rows. A finding names a row that was edited, removed or inserted, or says that sealing does not keep up.',
  states: ['unsealed', ...chainFaults],
  check: async (client, { graceMs, limit }) => {
    const head = await currentHead(client);
    const items = new Map((await unsealedItems(client, graceMs)).map((item) => [item.subject, item]));
    let count = items.size;
    const known = await openFindings(client);
    const ranges = head ? await rangesOf(client, head.number, known) : [];
    for (const range of ranges) {
      // A missing block shows in the one that follows it.
      const found = resultOf(await verifyChainOn(client, { from: range.from, to: range.to + 1n }));
      count += found.count;
      for (const item of found.items) {
        const key = `${item.subject} ${item.state} ${item.message}`;
        // Two ranges may meet in a block.
        if (items.has(key)) count -= 1;
        items.set(key, item);
      }
    }
    const isRead = ({ block }: OpenFinding) => ranges.some((range) => isWithin(range, block));
    const passedOver = known.filter((each) => !isRead(each)).map(({ subject }) => subject);
    return { count, items: [...items.values()].slice(0, limit), passedOver };
  },
};

/** Everything that was ever sealed. */
export const wholeChainControl: Control = {
  id: 'chain-whole',
  title: 'Hash chain, whole',
  explanation:
    'Compares every transaction, entry and ledger account with how it was sealed. A finding names what was edited, removed or inserted.',
  states: chainFaults,
  every: 'day',
  check: async (client, { limit }) => {
    const { count, items } = resultOf(await verifyChainOn(client, {}));
    return { count, items: items.slice(0, limit) };
  },
};

interface OpenFinding {
  readonly subject: string;
  readonly block: bigint;
}

/** Known faults of blocks, with those unchecked for longest first. */
async function openFindings(client: pg.ClientBase): Promise<OpenFinding[]> {
  const { rows } = await client.query<{ subject: string; block: string }>(
    `SELECT subject, details ->> 'block' AS block FROM control_findings
     WHERE control = $1 AND resolved_at IS NULL AND details ->> 'block' ~ '^\\d{1,18}$' ORDER BY last_seen_at, id`,
    [chainControl.id],
  );
  return rows.map(({ subject, block }) => ({ subject, block: BigInt(block) }));
}

/** The parts of the chain to check: the newest blocks, some that move through the chain, and those named by findings. */
async function rangesOf(
  client: pg.ClientBase,
  head: bigint,
  known: readonly OpenFinding[],
): Promise<Range[]> {
  const newest = head > NEWEST ? head - NEWEST + 1n : 1n;
  const ranges = [{ from: newest, to: head }];
  const older = newest - 1n;
  if (older > 0n) {
    const { rows: steps } = await client.query<{ step: string }>(
      `SELECT floor(extract(epoch FROM clock_timestamp()) * 1000 / $1)::text AS step`,
      [STEP_MS],
    );
    const from = ((BigInt(steps[0]?.step ?? 0) * WANDERING) % older) + 1n;
    const to = from + WANDERING - 1n;
    ranges.push({ from, to: to < older ? to : older });
  }
  const covered = ranges.length;
  for (const { block } of known) {
    if (ranges.length >= covered + FINDINGS_KEPT) break;
    if (block > head || ranges.some((range) => isWithin(range, block))) continue;
    ranges.push({ from: block, to: block });
  }
  return ranges;
}

function isWithin({ from, to }: Range, block: bigint): boolean {
  return from <= block && block <= to;
}

/** Transactions that have waited to be sealed for longer than work may be in progress. */
async function unsealedItems(client: pg.ClientBase, graceMs: number): Promise<ControlItem[]> {
  const { rows } = await client.query<{ id: string; at: string }>(
    `SELECT id::text, recorded_at::text AS at FROM ledger_transactions t
     WHERE t.id > coalesce((SELECT last_id FROM ledger_chain_blocks ORDER BY number DESC LIMIT 1), -9223372036854775808)
       AND recorded_at < clock_timestamp() - $1::float8 * interval '1 millisecond' ORDER BY t.id LIMIT 1`,
    [graceMs],
  );
  return rows.map(({ id, at }) => ({
    subject: 'chain:unsealed',
    state: 'unsealed',
    details: { oldest: id, recordedAt: at },
    message: `Transaction ${id} and what follows is not sealed yet.`,
    transactionIds: [BigInt(id)],
  }));
}

function resultOf({ findingCount, findings }: ChainVerification): ControlResult {
  return { count: findingCount, items: findings.map(itemOf) };
}

function itemOf(found: ChainFinding): ControlItem {
  const { state, block, transactionId, reference, ledgerAccountId, message } = found;
  const subject =
    transactionId !== null
      ? `transaction:${transactionId}`
      : ledgerAccountId !== null
        ? `ledger-account:${ledgerAccountId}`
        : `block:${block ?? 'head'}`;
  return {
    subject,
    state,
    message,
    details: {
      block: block?.toString() ?? null,
      transaction: transactionId?.toString() ?? null,
      reference,
      ledgerAccountId: ledgerAccountId?.toString() ?? null,
    },
    transactionIds: transactionId === null ? [] : [transactionId],
  };
}
