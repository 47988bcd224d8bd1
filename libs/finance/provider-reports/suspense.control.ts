import { formatMinor } from '#money/currency.js';
import type { Control } from '../control.js';

interface OpenItem {
  id: string;
  provider: string;
  reference: string;
  why: string;
  amount: string;
  currency: string;
  at: string;
  transactionIds: string[];
  count: number;
}

export const suspenseControl: Control = {
  id: 'suspense',
  title: 'Money in suspense',
  explanation:
    'Money that came or left and belongs to no order. Credit each item to whom it was meant for, return it, or book it as a cost; for the close of a period, those that were open at its end count.',
  check: async (client, { before, limit }) => {
    const { rows } = await client.query<OpenItem>(
      `SELECT s.id, s.provider, s.reference, s.why, s.amount_minor::text AS amount, s.currency, t.effective_at::text AS at,
         ARRAY[s.transaction_id, s.cleared_transaction_id]::text[] AS "transactionIds", (count(*) OVER ())::int AS count
       FROM suspense_items s JOIN ledger_transactions t ON t.id = s.transaction_id
       LEFT JOIN ledger_transactions c ON c.id = s.cleared_transaction_id
       WHERE CASE WHEN $1::timestamptz IS NULL THEN s.state = 'open'
         ELSE t.effective_at < $1::timestamptz AND (c.id IS NULL OR c.effective_at >= $1::timestamptz) END
       ORDER BY t.effective_at, s.id LIMIT $2`,
      [before, limit],
    );
    return {
      count: rows[0]?.count ?? 0,
      items: rows.map(({ id, provider, reference, why, amount, currency, at, transactionIds }) => {
        const money = `${formatMinor(BigInt(amount), currency)} ${currency}`;
        return {
          subject: `suspense:${id}`,
          state: 'open',
          message: `${money} of ${provider} (${reference}) stands in suspense: ${why.replaceAll('_', ' ')}.`,
          details: { provider, reference, why, amount: money, at },
          transactionIds: transactionIds.flatMap((each) => (each === null ? [] : [BigInt(each)])),
        };
      }),
    };
  },
};
