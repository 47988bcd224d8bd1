import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatMinor } from '#money/currency.js';
import { newId } from '#platform/ids.js';
import { type Person, person } from '../support/console.js';
import { runControls } from '../support/controls.js';
import { expectCleanLedger, type Relay, startRelay, until } from '../support/relay.js';
import { StripeStandIn } from '../support/stripe.js';

const DAY = 86_400_000;

interface Month {
  relay: Relay;
  stripe: StripeStandIn;
  finance: Person;
  close(): Promise<void>;
}

/** A relay with Stripe, whose reports are fetched on request. */
async function startMonth(): Promise<Month> {
  const stripe = await StripeStandIn.start();
  const relay = await startRelay({
    ...stripe.environment,
    PAYMENT_RETRY_SECONDS: '0.1',
    PROVIDER_REPORT_SECONDS: '3600',
    RECONCILE_GRACE_SECONDS: '0',
  });
  const finance = await person(relay, { roles: ['finance'] });
  const close = async () => {
    await relay.close();
    await stripe.close();
  };
  return { relay, stripe, finance, close };
}

/** A person buys credits with a card, and Stripe keeps its fee. */
async function buy({ relay, stripe }: Month, credits = '10') {
  const buyer = await person(relay);
  const body = { credits, provider: 'stripe', requestId: newId() } as const;
  const { data: order } = await buyer.api.POST('/api/topups', { body });
  const { event, paymentId } = stripe.pay(order!.id);
  await stripe.deliver(relay.consoleUrl, event);
  const amount = stripe.sessionOf(order!.id).amount_total;
  const movement = stripe.move('charge', amount, { fee: 68, sourceId: `ch_${newId()}`, paymentId });
  const params = { path: { orderId: order!.id } };
  const { data: paid } = await buyer.api.GET('/api/topups/{orderId}', { params });
  return { buyer, paymentId, amount, movement, topupId: paid!.topupId! };
}

async function refund(
  { finance, stripe }: Month,
  { topupId, paymentId }: { topupId: string; paymentId: string },
) {
  const { data } = await finance.api.POST('/api/finance/topups/{topupId}/refunds', {
    params: { path: { topupId } },
    body: { credits: '5', reason: 'asked for', requestId: newId() },
  });
  const { providerRefundId } = data!.refund!;
  stripe.move('refund', -650, { sourceId: providerRefundId!, paymentId });
  return providerRefundId!;
}

async function dispute(
  { relay, stripe }: Month,
  { paymentId, amount }: { paymentId: string; amount: number },
) {
  const disputeId = `dp_${newId()}`;
  const status = 'needs_response';
  await stripe.deliver(relay.consoleUrl, stripe.dispute(disputeId, paymentId, { amount, status }));
  stripe.move('dispute', -amount, { fee: 1500, sourceId: disputeId, paymentId });
  return disputeId;
}

/** Three payments, a refund, a dispute, a fee and their payout; then the report. */
async function liveThrough(month: Month) {
  const bought = [await buy(month), await buy(month), await buy(month)];
  const [first, second, third] = bought as [(typeof bought)[0], (typeof bought)[0], (typeof bought)[0]];
  const refundId = await refund(month, first);
  const disputeId = await dispute(month, second);
  const fee = month.stripe.move('fee', -30, { description: 'Radar for ada@example.com' });
  return { first: first, second: second, third: third, refundId, disputeId, fee };
}

/** Imports Stripe's movements, and waits until they are processed. */
async function fetchReports({ relay, finance, stripe }: Month): Promise<void> {
  const last = stripe.movements.at(-1)!.id;
  await finance.api.POST('/api/finance/provider-reports/fetch');
  await until('the newest movement to be imported and posted', async () => {
    const { rows } = await relay.fixture.billing.query<{ done: boolean }>(
      `SELECT EXISTS (SELECT FROM provider_report_lines WHERE line_id = $1) AND NOT EXISTS (SELECT FROM provider_line_work)
         AND (SELECT finished_at IS NOT NULL FROM provider_reports ORDER BY id DESC LIMIT 1) AS done`,
      [last],
    );
    return rows[0]!.done;
  });
}

async function reconcile(
  { finance }: Month,
  state?: 'matched' | 'missing_here' | 'missing_there' | 'differs' | 'twice',
) {
  const { data } = await finance.api.GET('/api/finance/reconciliation/payments', {
    params: { query: state === undefined ? {} : { state } },
  });
  return data!.items;
}

async function house({ relay }: Month, code: string): Promise<string> {
  const { rows } = await relay.fixture.billing.query<{ sum: string }>(
    `SELECT coalesce(sum(e.amount), 0)::text AS sum FROM ledger_entries e JOIN ledger_accounts a ON a.id = e.ledger_account_id
     WHERE a.code = $1`,
    [code],
  );
  return formatMinor(BigInt(rows[0]!.sum), 'USD');
}

/** What the control finds now. */
async function counted({ finance }: Month, controlId: string): Promise<string[]> {
  await runControls(finance, [controlId]);
  const { data } = await finance.api.GET('/api/finance/controls/{controlId}/findings', {
    params: { path: { controlId } },
  });
  return data!.items.map(({ subject, state }) => `${state} ${subject}`).sort();
}

describe('a month with Stripe', () => {
  let month: Month;
  beforeAll(async () => {
    month = await startMonth();
  });
  afterAll(() => month?.close());

  it('agrees to the cent, from payments to the bank', async () => {
    const { first, second, refundId, disputeId } = await liveThrough(month);
    const { payoutId, movement } = month.stripe.payOut();
    await fetchReports(month);
    const items = await reconcile(month);
    expect(items.filter(({ state }) => state !== 'matched')).toEqual([]);
    expect(items.map(({ kind, id }) => `${kind} ${id}`)).toEqual(
      expect.arrayContaining([
        `payment ${first.paymentId}`,
        `payment ${second.paymentId}`,
        `refund ${refundId}`,
        `dispute ${disputeId}`,
      ]),
    );
    for (const control of ['payments', 'payouts', 'bank', 'suspense'])
      expect(await counted(month, control)).toEqual([]);
    // 39.00 of payments minus 6.50, 13.00, three fees of 0.68, 15.00 and 0.30.
    expect(movement.amount).toBe(-216);
    expect(await house(month, 'psp:stripe')).toBe('0.00');
    expect(await house(month, 'bank')).toBe('-2.16');
    expect(await house(month, 'expense:psp-fee')).toBe('-17.34');
    const payouts = await month.finance.api.GET('/api/finance/reconciliation/payouts', {});
    expect(payouts.data!.items).toMatchObject([
      {
        payoutId,
        state: 'matched',
        amount: '2.16',
        lines: 6,
        payments: '39.00',
        refunds: '-6.50',
        disputes: '-13.00',
        fees: '-17.34',
        lineIds: [movement.id],
      },
    ]);
    await expectCleanLedger(month.relay);
  });

  it('is fetched again without a change, in pages, and shows which days it covers', async () => {
    for (let count = 0; count < 120; count += 1) month.stripe.move('fee', -1);
    await fetchReports(month);
    expect(await house(month, 'expense:psp-fee')).toBe('-18.54');
    month.stripe.move('fee', -1);
    await fetchReports(month);
    expect(await house(month, 'expense:psp-fee')).toBe('-18.55');
    const { data } = await month.finance.api.GET('/api/finance/reconciliation/payment-days', {});
    expect(data!.days).toMatchObject([{ provider: 'stripe', state: 'matched', items: 5, currency: 'USD' }]);
    const runs = await month.finance.api.GET('/api/finance/provider-reports', {});
    expect(runs.data!.items[0]).toMatchObject({ provider: 'stripe', source: 'api', added: 1, changed: 0 });
  });

  it('continues in pages and as a file', async () => {
    const one = await month.finance.api.GET('/api/finance/reconciliation/payments', {
      params: { query: { limit: 2 } },
    });
    const cursor = one.data!.nextCursor!;
    const two = await month.finance.api.GET('/api/finance/reconciliation/payments', {
      params: { query: { limit: 10, cursor } },
    });
    const ids = [...one.data!.items, ...two.data!.items].map(({ kind, id }) => `${kind} ${id}`);
    expect(new Set(ids).size).toBe(5);
    expect(two.data!.nextCursor).toBeNull();
    for (const [name, lines] of [
      ['payments', 6],
      ['payouts', 2],
      ['bank', 2],
    ] as const) {
      const file = await month.finance.send(`/api/finance/reconciliation/${name}.csv`);
      expect(file.headers.get('content-type')).toContain('text/csv');
      expect((await file.text()).trim().split('\n')).toHaveLength(lines);
    }
  });

  it('is for finance, and requires a valid range', async () => {
    const other = await person(month.relay, { roles: ['admin', 'support'] });
    const refused = await other.api.GET('/api/finance/reconciliation/payments', {});
    expect(refused.error?.error.code).toBe('forbidden');
    const query = { from: '2026-02-01T00:00:00Z', to: '2026-01-01T00:00:00Z' };
    for (const path of ['payments', 'payouts', 'bank'] as const) {
      const { error } = await month.finance.api.GET(`/api/finance/reconciliation/${path}`, {
        params: { query },
      });
      expect(error?.error.code).toBe('invalid_value');
    }
    const odd = await month.finance.api.GET('/api/finance/reconciliation/payments', {
      params: { query: { cursor: Buffer.from('["x","stripe","payment","pi"]').toString('base64url') } },
    });
    expect(odd.error?.error.code).toBe('invalid_value');
  });
});

describe('differences', () => {
  let month: Month;
  beforeAll(async () => {
    month = await startMonth();
  });
  afterAll(() => month?.close());

  it('a payment that never reached us is named, posted to suspense, and credited from there', async () => {
    await liveThrough(month);
    const lost = month.stripe.move('charge', 1300, { fee: 68, sourceId: 'ch_lost', paymentId: 'pi_lost' });
    await fetchReports(month);
    expect(await reconcile(month, 'missing_here')).toMatchObject([
      { kind: 'payment', id: 'pi_lost', theirs: { amount: '13.00', lineIds: [lost.id] }, ours: null },
    ]);
    expect(await counted(month, 'payments')).toEqual(['missing_here payment:stripe:pi_lost']);
    const params = { path: { provider: 'stripe', lineId: lost.id } } as const;
    const body = { note: 'The event was lost.' };
    const path = '/api/finance/provider-lines/{provider}/{lineId}/book';
    const booked = await Promise.all([1, 2, 3].map(() => month.finance.api.POST(path, { params, body })));
    expect(booked.map(({ data }) => data!.state).sort()).toEqual(['ignored', 'ignored', 'suspense']);
    expect(await counted(month, 'payments')).toEqual([]);
    const { data: suspense } = await month.finance.api.GET('/api/finance/suspense', {
      params: { query: { state: 'open' } },
    });
    expect(suspense!.items).toMatchObject([{ reference: 'pi_lost', amount: '13.00', why: 'no_order' }]);
    const { accountId } = await person(month.relay);
    await month.finance.api.POST('/api/finance/suspense/{itemId}/credit', {
      params: { path: { itemId: suspense!.items[0]!.id } },
      body: { accountId, note: 'of this account', requestId: newId() },
    });
    expect(await counted(month, 'suspense')).toEqual([]);
    expect(await counted(month, 'payments')).toEqual([]);
    await expectCleanLedger(month.relay);
  });

  it('refunds and disputes that never reached us are posted from their lines', async () => {
    const bought = await buy(month);
    const gone = month.stripe.move('refund', -100, { sourceId: 're_gone', paymentId: bought.paymentId });
    const taken = month.stripe.move('dispute', -1300, {
      fee: 1500,
      sourceId: 'dp_gone',
      paymentId: bought.paymentId,
    });
    const fee = month.stripe.move('fee', -30);
    await fetchReports(month);
    expect(await counted(month, 'payments')).toEqual([
      'missing_here dispute:stripe:dp_gone',
      'missing_here refund:stripe:re_gone',
    ]);
    const book = (lineId: string) =>
      month.finance.api.POST('/api/finance/provider-lines/{provider}/{lineId}/book', {
        params: { path: { provider: 'stripe', lineId } },
        body: { note: 'The event was lost.' },
      });
    expect((await book(gone.id)).data!.state).toBe('suspense');
    expect((await book(taken.id)).data!.state).toBe('applied');
    expect((await book(fee.id)).error?.error.code).toBe('conflict');
    expect((await book('txn_nobody')).error?.error.code).toBe('not_found');
    expect(await counted(month, 'payments')).toEqual([]);
    await expectCleanLedger(month.relay);
  });

  it('a payment that Stripe does not know, a different amount, and one reported twice', async () => {
    const unknown = await buy(month);
    month.stripe.movements.splice(month.stripe.movements.indexOf(unknown.movement), 1);
    const other = await buy(month);
    other.movement.amount -= 1;
    const twice = await buy(month);
    month.stripe.move('charge', twice.amount, { sourceId: 'ch_again', paymentId: twice.paymentId });
    await fetchReports(month);
    // A report covers what was paid in its time.
    await month.relay.fixture.billing.query(
      `UPDATE provider_reports SET covers = tstzrange(lower(covers) - interval '2 days', now()) WHERE covers IS NOT NULL`,
    );
    expect(await counted(month, 'payments')).toEqual([
      `differs payment:stripe:${other.paymentId}`,
      `missing_there payment:stripe:${unknown.paymentId}`,
      `twice payment:stripe:${twice.paymentId}`,
    ]);
    const [missing] = await reconcile(month, 'missing_there');
    const transactionId = missing!.ours!.transactionIds[0]!;
    const { data } = await month.finance.api.GET('/api/finance/transactions/{transactionId}', {
      params: { path: { transactionId } },
    });
    expect(JSON.stringify(data)).toContain(`topup:stripe:${unknown.paymentId}`);
  });

  it('a wrong payout, and money that nobody can explain, which leaves as a cost', async () => {
    const { payoutId } = month.stripe.payOut(25);
    const odd = month.stripe.move('risk_reserved_funds', -400, { description: 'Reserve' });
    await fetchReports(month);
    expect(await counted(month, 'payouts')).toEqual([`differs payout:stripe:${payoutId}`]);
    const { data: suspense } = await month.finance.api.GET('/api/finance/suspense', {
      params: { query: { state: 'open' } },
    });
    const item = suspense!.items.find(({ reference }) => reference === odd.id)!;
    expect(item).toMatchObject({ why: 'provider_adjustment', amount: '-4.00' });
    const expense = () =>
      month.finance.api.POST('/api/finance/suspense/{itemId}/expense', {
        params: { path: { itemId: item.id } },
        body: { note: 'Stripe keeps it.' },
      });
    const answers = await Promise.all([expense(), expense()]);
    expect(answers.map(({ data }) => data)).toEqual([{ approvalId: null }, { approvalId: null }]);
    const after = await month.finance.api.GET('/api/finance/suspense', {
      params: { query: { state: 'expensed' } },
    });
    expect(after.data!.items.map(({ id }) => id)).toEqual([item.id]);
    const { data: line } = await month.finance.api.GET('/api/finance/provider-lines/{provider}/{lineId}', {
      params: { path: { provider: 'stripe', lineId: odd.id } },
    });
    expect(line).toMatchObject({ type: 'adjustment', amount: '-4.00', postings: [{ kind: 'suspense' }] });
    await expectCleanLedger(month.relay);
  });

  it('a line that is reported differently later is accepted by two people, and no longer counts', async () => {
    const fee = month.stripe.move('fee', -2_000);
    await fetchReports(month);
    [fee.amount, fee.net] = [-2_500, -2_500];
    month.stripe.move('fee', -1);
    await fetchReports(month);
    const subject = `differs fee:stripe:${fee.id}`;
    expect(await counted(month, 'payments')).toContain(subject);
    const params = { path: { provider: 'stripe', lineId: fee.id } } as const;
    const path = '/api/finance/provider-lines/{provider}/{lineId}/accept';
    const body = { reason: 'They wrote to us.', requestId: newId() };
    const asked = await month.finance.api.POST(path, { params, body });
    expect(asked.data).toMatchObject({ state: 'pending', approvalId: expect.any(String) });
    expect((await month.finance.api.POST(path, { params, body })).data).toEqual(asked.data);
    const approve = (by: Person) =>
      by.api.POST('/api/approvals/{approvalId}/approve', {
        params: { path: { approvalId: asked.data!.approvalId! } },
        body: {},
      });
    expect((await approve(month.finance)).error?.error.code).toBe('second_person_required');
    const second = await person(month.relay, { roles: ['finance'] });
    expect((await approve(second)).data).toMatchObject({ state: 'approved' });
    expect((await month.finance.api.POST(path, { params, body })).data).toMatchObject({ state: 'done' });
    const { data: line } = await month.finance.api.GET('/api/finance/provider-lines/{provider}/{lineId}', {
      params,
    });
    expect(line).toMatchObject({
      changes: [{ content: { amountMinor: '-2500' } }],
      acceptances: [{ reason: body.reason, approvedBy: `user:${second.userId}` }],
    });
    const open = await month.finance.api.GET('/api/finance/controls/{controlId}/findings', {
      params: { path: { controlId: 'payments' } },
    });
    expect(open.data!.items.map((each) => each.subject)).toContain(`fee:stripe:${fee.id}`);
    await counted(month, 'payments');
    expect(await counted(month, 'payments')).not.toContain(subject);
  });

  it('a payout without an answer from Stripe is requested again, and does not delay anything else', async () => {
    month.stripe.move('fee', -3);
    const { payoutId } = month.stripe.payOut();
    const payout = month.stripe.payouts.get(payoutId)!;
    month.stripe.payouts.delete(payoutId);
    await fetchReports(month);
    const stateOf = async () => {
      const { data } = await month.finance.api.GET('/api/finance/reconciliation/payouts', {});
      return data!.items.find((each) => each.payoutId === payoutId)?.state;
    };
    const reports = await month.finance.api.GET('/api/finance/provider-reports', {});
    expect(reports.data!.items[0]).toMatchObject({ covers: { to: expect.any(String) } });
    expect(await stateOf()).toBe('unlinked');
    month.stripe.payouts.set(payoutId, payout);
    month.stripe.move('fee', -1);
    await fetchReports(month);
    await until('the payout to be made of its lines', async () => (await stateOf()) === 'matched');
  });

  it('if Stripe is unreachable, the next round fetches what was missed', async () => {
    month.stripe.lostAnswers = 1;
    await month.finance.api.POST('/api/finance/provider-reports/fetch');
    await until('the round to fail', async () => month.stripe.lostAnswers === 0);
    month.stripe.move('fee', -2);
    await fetchReports(month);
    const { data } = await month.finance.api.GET('/api/finance/provider-reports', {});
    const [whole, broken] = data!.items;
    expect(whole).toMatchObject({ covers: { to: expect.any(String) } });
    // A failed report covers nothing.
    expect(broken).toMatchObject({ covers: null, finishedAt: null });
  });
});

describe('files', () => {
  let month: Month;
  beforeAll(async () => {
    month = await startMonth();
  });
  afterAll(() => month?.close());

  const HEADER =
    'balance_transaction_id,created_utc,currency,gross,fee,reporting_category,source_id,payment_intent_id,automatic_payout_id';
  const dayAt = (days: number) => new Date(Date.now() + days * DAY).toISOString().slice(0, 10);
  const yesterday = `${dayAt(-1)} 12:00:00`;
  /** Days that have ended. */
  const DAYS = `?from=${dayAt(-60)}&to=${dayAt(0)}`;

  function upload(path: string, text: string, query = ''): Promise<Response> {
    const headers = { 'content-type': 'text/csv' };
    return month.finance.send(`/api/finance/${path}${query}`, { method: 'POST', headers, body: text });
  }

  it("from Stripe are tried, imported once, and compared with Stripe's own list", async () => {
    const { paymentId, movement } = await buy(month);
    movement.created -= DAY / 1000;
    const row = `${movement.id},${new Date(movement.created * 1000).toISOString().slice(0, 19).replace('T', ' ')},usd,13.00,0.68,charge,ch_1,${paymentId},`;
    const tried = await upload('provider-reports/stripe', `${HEADER}\n${row}\n`, `${DAYS}&dryRun=true`);
    expect(await tried.json()).toMatchObject({ id: null, lines: 1, added: 1 });
    const both = await Promise.all(
      [1, 2].map(() => upload('provider-reports/stripe', `${HEADER}\n${row}\n`, DAYS)),
    );
    const answers = (await Promise.all(both.map((each) => each.json()))) as { added: number }[];
    expect(answers.map(({ added }) => added).sort()).toEqual([0, 1]);
    await fetchReports(month);
    expect(await counted(month, 'payments')).toEqual([]);
    expect(await house(month, 'expense:psp-fee')).toBe('-0.68');
  });

  it('with an error are refused whole, naming the line and the column', async () => {
    const answer = await upload(
      'provider-reports/stripe',
      `${HEADER}\ntxn_1,${yesterday},usd,x,0,charge,ch_1,pi_1,\n`,
      DAYS,
    );
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain('Line 2, gross: must be an amount with at most 2 decimals.');
    expect((await upload('provider-reports/stripe', 'no,report\n1,2\n', DAYS)).status).toBe(400);
    const refusal = async (query: string) => {
      const answered = await upload('provider-reports/stripe', `${HEADER}\n`, query);
      const { error } = (await answered.json()) as { error: { code: string; param: string } };
      return `${error.code} ${error.param}`;
    };
    expect(await refusal('')).toBe('missing_required_parameter from');
    expect(await refusal('?from=2026-01-01')).toBe('missing_required_parameter to');
    expect(await refusal(`?from=2026-01-01&to=${dayAt(2)}`)).toBe('invalid_value to');
    const { data } = await month.finance.api.GET('/api/finance/provider-reports/coverage');
    expect(data!.items.map(({ provider, of }) => `${provider} ${of}`)).toEqual(
      expect.arrayContaining(['stripe activity', 'stripe payouts']),
    );
  });

  it('from a bank are read by its mapping, and matched with transfers, payouts and what people know', async () => {
    const mapping = {
      delimiter: ';' as const,
      decimal: ',' as const,
      date: { column: 'Tag', format: 'DD.MM.YYYY' },
      amount: { column: 'Betrag' },
      currency: { fixed: 'USD' },
      reference: ['Zweck'],
    };
    const [year, monthOfYear, day] = dayAt(-1).split('-');
    const line = (amount: string, text: string) => `${day}.${monthOfYear}.${year};${amount};${text}`;
    const params = { path: { bankAccountId: 'main' } };
    const file = [
      'Tag;Betrag;Zweck',
      line('13,00', 'bank-77'),
      line('1.300,00', 'Ada Example'),
      line('-9,99', 'Miete'),
    ].join('\n');
    expect((await upload('bank-accounts/main/lines', file, DAYS)).status).toBe(404);
    const saved = await month.finance.api.PUT('/api/finance/bank-accounts/{bankAccountId}', {
      params,
      body: { mapping },
    });
    expect(saved.response.status).toBe(204);
    const { accountId } = await person(month.relay);
    await month.finance.api.POST('/api/finance/topups', {
      body: {
        accountId,
        paymentId: 'bank-77',
        paid: '13',
        currency: 'USD',
        reason: 'transfer',
        requestId: newId(),
      },
    });
    const imported = await upload('bank-accounts/main/lines', file, DAYS);
    expect(await imported.json()).toMatchObject({ lines: 3, added: 3 });
    const list = async () =>
      (await month.finance.api.GET('/api/finance/reconciliation/bank', {})).data!.items.filter(
        ({ kind }) => kind === 'line',
      );
    const lines = await list();
    expect(lines.map(({ reference, state }) => [reference, state])).toEqual(
      expect.arrayContaining([
        ['bank-77', 'matched'],
        ['Ada Example', 'missing_here'],
        ['Miete', 'missing_here'],
      ]),
    );
    const idOf = (reference: string) => lines.find((each) => each.reference === reference)!.id;
    const match = (reference: string, kind: 'suspense' | 'none') =>
      month.finance.api.POST('/api/finance/bank-lines/{bankLineId}/match', {
        params: { path: { bankLineId: idOf(reference) } },
        body: { kind, note: 'as the statement says' },
      });
    const raced = await Promise.all([match('Ada Example', 'suspense'), match('Ada Example', 'suspense')]);
    expect(raced.map(({ response }) => response.status).sort()).toEqual([204, 409]);
    expect((await match('Miete', 'none')).response.status).toBe(204);
    expect(await counted(month, 'bank')).toEqual([]);
    expect(await house(month, 'bank')).toBe('-1313.00');
    expect(await house(month, 'psp:manual')).toBe('0.00');
    expect(await house(month, 'suspense:pay')).toBe('1300.00');

    const bankLineId = idOf('bank-77');
    const undo = await month.finance.api.POST('/api/finance/bank-lines/{bankLineId}/undo', {
      params: { path: { bankLineId } },
      body: { note: 'a mistake' },
    });
    expect(undo.response.status).toBe(204);
    expect(await house(month, 'psp:manual')).toBe('-13.00');
    // What a person undid is left to people.
    expect(await (await upload('bank-accounts/main/lines', file, DAYS)).json()).toMatchObject({ added: 0 });
    expect(await house(month, 'psp:manual')).toBe('-13.00');
    expect((await list()).length).toBe(3);
    await expectCleanLedger(month.relay);
  });

  it('reach back a month', async () => {
    const early = new Date(Date.now() - 30 * DAY).toISOString().slice(0, 19).replace('T', ' ');
    await upload('provider-reports/stripe', `${HEADER}\ntxn_early,${early},usd,-1.00,0,fee,,,\n`, DAYS);
    const { rows } = await month.relay.fixture.billing.query<{ day: string }>(
      `SELECT (effective_at AT TIME ZONE 'UTC')::date::text AS day FROM ledger_transactions WHERE reference = $1`,
      ['psp-fee:stripe:txn_early'],
    );
    expect(rows).toEqual([{ day: early.slice(0, 10) }]);
  });
});
