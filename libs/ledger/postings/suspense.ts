import type pg from 'pg';
import { lockOne } from '#database/locks.js';
import { newId } from '#platform/ids.js';
import { post } from './posting.js';
import type { PaymentProviderName } from './topup.js';

export const suspenseWhys = [
  'no_order',
  'other_amount',
  'other_currency',
  'paid_twice',
  'unknown_refund',
  'refund_failed',
  'payment_disputed',
  'dispute_beyond_payment',
  'dispute_after_deletion',
  'dispute_won',
  'provider_adjustment',
] as const;
export type SuspenseWhy = (typeof suspenseWhys)[number];

export interface SuspenseItem {
  provider: PaymentProviderName;
  /** The id of the payment, refund or dispute. */
  reference: string;
  orderId: string | null;
  /** The payment of which a bank took it or the provider refunded it, if known. */
  paymentId?: string | null;
  /** Positive for incoming money, negative for outgoing. */
  amountMinor: bigint;
  currency: string;
  why: SuspenseWhy;
  /** When it was received or paid, ISO 8601. Now by default. */
  happenedAt?: string | null;
  /** Tells apart what is booked for the same reason and reference: the failed refund after which it is, or `beyond` a payment. */
  part?: string | undefined;
  /** The item that left, which a refund that came back undoes. */
  undoes?: string;
}

/**
 * Posts money at a provider that cannot be credited to anyone: Dr psp / Cr suspense, once per reference. Other
 * currencies than the house's have separate accounts, because one account never mixes currencies.
 * @returns the item's id, whether it is new, and its posting
 */
export async function bookSuspense(
  client: pg.ClientBase,
  item: SuspenseItem,
  houseCurrency: string,
): Promise<{ itemId: string; created: boolean; transactionId: bigint }> {
  const { provider, reference, why, amountMinor, currency, part } = item;
  // Two concurrent events may report it: Stripe sends that a refund was created together with that it was updated.
  await lockOne(client, 'suspense', provider, reference, why);
  // A dispute may give back several times. Who books that, or a part, knows what is new.
  const isNew = part !== undefined || why === 'dispute_won';
  const known = isNew ? null : await findSuspense(client, item);
  if (known) return { ...known, created: false };
  const [psp, suspense] = await accountsFor(client, item, houseCurrency);
  const transactionId = await post(client, {
    kind: 'suspense',
    reference: ['suspense', provider, reference, why, part].filter((each) => each !== undefined).join(':'),
    accountId: null,
    effectiveAt: item.happenedAt ?? null,
    movements: [
      { code: psp, commodity: 'PAY', amount: -amountMinor },
      { code: suspense, commodity: 'PAY', amount: amountMinor },
    ],
  });
  const itemId = newId();
  await client.query(
    `INSERT INTO suspense_items (id, provider, reference, order_id, payment_id, amount_minor, currency, why, transaction_id, undoes)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [
      itemId,
      provider,
      reference,
      item.orderId,
      item.paymentId ?? null,
      amountMinor,
      currency,
      why,
      transactionId,
      item.undoes ?? null,
    ],
  );
  return { itemId, created: true, transactionId };
}

export async function findSuspense(
  client: pg.ClientBase,
  { provider, reference, why }: Pick<SuspenseItem, 'provider' | 'reference' | 'why'>,
): Promise<{ itemId: string; transactionId: bigint } | null> {
  const { rows } = await client.query<{ itemId: string; transactionId: bigint }>(
    `SELECT id AS "itemId", transaction_id AS "transactionId" FROM suspense_items
     WHERE provider = $1 AND reference = $2 AND why = $3`,
    [provider, reference, why],
  );
  return rows[0] ?? null;
}

type BookedItem = SuspenseItem & { id: string; transactionId: bigint };

/** Posts that the money of an item was returned: the reverse of its posting. The caller has locked the item and marks it. */
export async function bookSuspenseReturned(
  client: pg.ClientBase,
  item: BookedItem,
  houseCurrency: string,
): Promise<bigint> {
  const [psp, suspense] = await accountsFor(client, item, houseCurrency);
  return clear(client, item, { kind: 'suspense-returned', suspense, to: psp });
}

/**
 * Posts that the money of an item is gone, as a cost of the provider: Dr expense:psp-fee / Cr suspense; the reverse for
 * money that a provider gave. The caller has locked the item and marks it.
 */
export async function bookSuspenseExpensed(
  client: pg.ClientBase,
  item: BookedItem,
  houseCurrency: string,
): Promise<bigint> {
  const [, suspense] = await accountsFor(client, item, houseCurrency);
  const to = await expenseFor(client, item.currency, houseCurrency);
  return clear(client, item, { kind: 'suspense-expensed', suspense, to });
}

function clear(
  client: pg.ClientBase,
  { id, transactionId: linkedId, amountMinor }: BookedItem,
  { kind, suspense, to }: { kind: 'suspense-returned' | 'suspense-expensed'; suspense: string; to: string },
): Promise<bigint> {
  return post(client, {
    kind,
    reference: `${kind}:${id}`,
    accountId: null,
    linkedId,
    movements: [
      { code: suspense, commodity: 'PAY', amount: -amountMinor },
      { code: to, commodity: 'PAY', amount: amountMinor },
    ],
  });
}

async function expenseFor(client: pg.ClientBase, currency: string, houseCurrency: string): Promise<string> {
  const code = 'expense:psp-fee';
  if (currency === houseCurrency) return code;
  await client.query(
    `INSERT INTO ledger_accounts (code, commodity, kind) VALUES ($1, 'PAY', 'expense') ON CONFLICT (code) DO NOTHING`,
    [`${code}:${currency}`],
  );
  return `${code}:${currency}`;
}

async function accountsFor(
  client: pg.ClientBase,
  { provider, currency }: Pick<SuspenseItem, 'provider' | 'currency'>,
  houseCurrency: string,
): Promise<[psp: string, suspense: string]> {
  if (currency === houseCurrency) return [`psp:${provider}`, 'suspense:pay'];
  const codes: [string, string] = [`psp:${provider}:${currency}`, `suspense:pay:${currency}`];
  await client.query(
    `INSERT INTO ledger_accounts (code, commodity, kind) VALUES ($1, 'PAY', 'asset'), ($2, 'PAY', 'clearing')
     ON CONFLICT (code) DO NOTHING`,
    codes,
  );
  return codes;
}
