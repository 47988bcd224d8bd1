import type pg from 'pg';
import type { Horizon } from '#ledger/postings/horizon.js';
import { readTrialBalance } from '#ledger/reports/trial-balance.js';
import type { Control, ControlItem } from '../control.js';
import { hashBalances } from './balances-hash.js';
import { listPeriods, type Period, periodBalances } from './period.js';

/** The number of periods that are read again: a year of months. Older ones are in the opening balances of these. */
const READ_AGAIN = 12;

/** Checks that the ledger still agrees with what was reported for closed periods. */
export const closedPeriodsControl: Control = {
  id: 'closed-periods',
  title: 'Closed periods',
  explanation:
    'Recomputes the trial balance of each of the last twelve closed periods from its entries, compares it with the one stored at the close, and checks that nothing was recorded inside afterwards.',
  states: ['inside', 'differs', 'hash_differs'],
  every: 'day',
  check: async (client, { horizon, limit }) => {
    const periods = await listPeriods(client, { limit: READ_AGAIN, beforeId: null, state: 'closed' });
    const items: ControlItem[] = [];
    for (const period of periods.slice(0, READ_AGAIN)) {
      items.push(...(await inside(client, period)), ...(await differences(client, horizon, period)));
    }
    return { count: items.length, items: items.slice(0, limit) };
  },
};

async function inside(client: pg.ClientBase, { id, endsAt, recordedBefore }: Period): Promise<ControlItem[]> {
  const { rows } = await client.query<{ id: string; reference: string }>(
    `SELECT t.id::text, t.reference FROM ledger_transactions t
     WHERE t.recorded_at >= $1::timestamptz AND t.effective_at < $2 ORDER BY t.id LIMIT 100`,
    [recordedBefore, endsAt],
  );
  return rows.map((row) => ({
    subject: `transaction:${row.id}`,
    state: 'inside',
    message: `Transaction ${row.reference} is effective in period ${id}, and was recorded after its close.`,
    details: { period: id.toString(), reference: row.reference },
    transactionIds: [BigInt(row.id)],
  }));
}

async function differences(client: pg.ClientBase, horizon: Horizon, period: Period): Promise<ControlItem[]> {
  const { id, endsAt: at, recordedBefore } = period;
  const stored = await periodBalances(client, id);
  const read = await readTrialBalance(client, horizon, { by: 'effective', at, recordedBefore });
  const now = new Map(read.balances.map(({ code, balance }) => [code, balance]));
  const then = new Map(stored.map(({ code, balance }) => [code, balance]));
  const items = [...new Set([...then.keys(), ...now.keys()])]
    .filter((code) => (then.get(code) ?? 0n) !== (now.get(code) ?? 0n))
    .map((code) => itemOf(id, code, { then: then.get(code) ?? 0n, now: now.get(code) ?? 0n }));
  if (hashBalances(stored).toString('hex') === period.balancesHash) return items;
  const message = `The balances that are stored for period ${id} do not have the hash of its close.`;
  const details = { period: id.toString() };
  return [{ subject: `period:${id}`, state: 'hash_differs', message, details, transactionIds: [] }, ...items];
}

function itemOf(id: bigint, code: string, { then, now }: { then: bigint; now: bigint }): ControlItem {
  return {
    subject: `period:${id}:${code}`,
    state: 'differs',
    message: `The books of period ${id} closed with ${then} on ${code} (whole units of the ledger), and have ${now} now.`,
    details: { period: id.toString(), account: code, told: then.toString(), now: now.toString() },
    transactionIds: [],
  };
}
