import { newId } from '#platform/ids.js';
import { type Person, person } from '../../support/console.js';
import { json, type Relay, until } from '../../support/relay.js';

const HEADER =
  'balance_transaction_id,created_utc,currency,gross,fee,reporting_category,source_id,payment_intent_id,automatic_payout_id';

/** Yesterday in UTC: a complete day. */
export function yesterday(): string {
  return new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
}

export interface ReportedPayment {
  lineId: string;
  paymentId: string;
  amount: string;
  fee: string;
}

/** A Stripe report, as people download it, with payments from yesterday. */
export function stripeReport(payments: readonly ReportedPayment[]): string {
  const rows = payments.map(
    ({ lineId, paymentId, amount, fee }) =>
      `${lineId},${yesterday()} 10:00:00,usd,${amount},${fee},charge,ch_${lineId},${paymentId},`,
  );
  return `${[HEADER, ...rows].join('\n')}\n`;
}

/** Imports such a report for yesterday. */
export async function importReport(finance: Person, payments: readonly ReportedPayment[]): Promise<void> {
  const today = new Date().toISOString().slice(0, 10);
  const init = { method: 'POST', headers: { 'content-type': 'text/csv' }, body: stripeReport(payments) };
  const path = `/api/finance/provider-reports/stripe?from=${yesterday()}&to=${today}`;
  const answer = await finance.send(path, init);
  if (!answer.ok) throw new Error(await answer.text());
}

/** A person who topped up at the sandbox, made images, one of which failed, and has a ticket. */
export async function shopper(relay: Relay) {
  const customer = await relay.customer('10');
  const owner = await person(relay, { accountId: customer.accountId });
  const order = { credits: '20', provider: 'sandbox', requestId: newId() } as const;
  const { data } = await owner.api.POST('/api/topups', { body: order });
  await fetch(`${relay.consoleUrl}/sandbox-pay/${data!.id}/pay`, { method: 'POST', redirect: 'manual' });
  await until('the top-up', async () => (await customer.balance()).main === '30');
  const picture = (prompt: string) =>
    customer.send('/v1/images/generations', json({ model: 'vendora-imagine-image', prompt }));
  await picture('a lighthouse [[instant]]');
  await picture('a harbour [[instant]]');
  await picture('a gate [[fault:reject-503]]');
  const ticket = { kind: 'billing', subject: 'Too much', body: 'I was charged too much.' } as const;
  const ticketId = (await owner.api.POST('/api/tickets', { body: ticket })).data!.id;
  return { accountId: customer.accountId, owner, ticketId };
}

/** Whether costs, recognition and the chain have caught up with all postings so far. */
export async function caughtUp(relay: Relay): Promise<void> {
  await until('the books to catch up', async () => {
    const { rows } = await relay.fixture.billing.query<{ done: boolean }>(
      `SELECT (SELECT count(*) FROM charge_costs) > 1 AND EXISTS (SELECT FROM ledger_transactions WHERE kind = 'recognition')
         AND EXISTS (SELECT FROM ledger_chain_blocks) AS done`,
    );
    return rows[0]!.done;
  });
}
