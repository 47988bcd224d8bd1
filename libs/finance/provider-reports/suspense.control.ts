import type pg from 'pg';
import { moneyText } from '#money/currency.js';
import type { Control } from '../control.js';

interface OpenItem {
  id: string;
  provider: string;
  reference: string;
  why: string;
  amount: bigint;
  currency: string;
  at: string;
  transactionIds: bigint[];
  count: number;
}

export const suspenseControl: Control = {
  id: 'suspense',
  title: 'Money in suspense',
  explanation:
    'Money received or paid that matches no order. Credit each item to the intended account, return it, or book it as a cost or as income.',
  states: ['open'],
  check: async (client, { before, limit }) => {
    const { rows } = await client.query<OpenItem>(
      `SELECT s.id, s.provider, s.reference, s.why, s.amount_minor AS amount, s.currency, t.effective_at::text AS at,
         array_remove(ARRAY[s.transaction_id, s.cleared_transaction_id], NULL) AS "transactionIds", (count(*) OVER ())::int AS count
       FROM suspense_items s JOIN ledger_transactions t ON t.id = s.transaction_id
       WHERE s.state = 'open' AND t.effective_at < coalesce($1::timestamptz, 'infinity')
       ORDER BY t.effective_at, s.id LIMIT $2`,
      [before, limit],
    );
    return {
      count: rows[0]?.count ?? 0,
      items: rows.map(({ id, provider, reference, why, amount, currency, at, transactionIds }) => {
        const money = moneyText(amount, currency);
        return {
          subject: `suspense:${id}`,
          state: 'open',
          message: `${money} of ${provider} (${reference}) is in suspense: ${why.replaceAll('_', ' ')}.`,
          details: { provider, reference, why, amount: money, at },
          transactionIds,
        };
      }),
    };
  },
};

/** What was in suspense at an instant and has been cleared since, with the outcome. */
export interface ClearedItem {
  readonly id: string;
  readonly provider: string;
  readonly reference: string;
  readonly amountMinor: bigint;
  readonly currency: string;
  readonly state: 'credited' | 'returned' | 'expensed';
  readonly transactionId: bigint;
  readonly clearedTransactionId: bigint;
  readonly clearedAt: string;
}

/** In the order of clearing. The count includes all. */
export async function clearedSince(
  client: pg.ClientBase,
  { end, limit }: { end: Date; limit: number },
): Promise<{ count: number; items: ClearedItem[] }> {
  const { rows } = await client.query<ClearedItem & { count: number }>(
    `SELECT s.id, s.provider, s.reference, s.amount_minor AS "amountMinor", s.currency, s.state,
       t.id AS "transactionId", c.id AS "clearedTransactionId",
       to_char(c.effective_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS "clearedAt", (count(*) OVER ())::int AS count
     FROM suspense_items s JOIN ledger_transactions t ON t.id = s.transaction_id
     JOIN ledger_transactions c ON c.id = s.cleared_transaction_id
     WHERE s.state <> 'open' AND t.effective_at < $1 AND c.effective_at >= $1 ORDER BY c.effective_at, s.id LIMIT $2`,
    [end, limit],
  );
  return { count: rows[0]?.count ?? 0, items: rows.map(({ count: _, ...item }) => item) };
}
