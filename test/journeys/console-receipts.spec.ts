import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { markHorizon } from '#ledger/postings/horizon.js';
import { formatAmount, parseAmount, readableAmount } from '#money/amount.js';
import { moneyText } from '#money/currency.js';
import { mailTopup } from '#payments/receipts/topup.mail.js';
import { newId } from '#platform/ids.js';
import { priceCredits } from '#topup/conversion.js';
import { type Person, person } from '../support/console.js';
import { awaitMail, mailTo } from '../support/mail.js';
import { textsOfPdf } from '../support/pdf.js';
import { type Relay, startRelay, until } from '../support/relay.js';
import { recordTopup } from '../support/topups.js';

let relay: Relay;
beforeAll(async () => {
  relay = await startRelay({
    ISSUER_NAME: 'Tollgate Example Ltd.',
    ISSUER_ADDRESS: '1 Example Street\\n10115 Berlin',
    ISSUER_TAX_ID: 'DE000000000',
    MAIL_POLL_SECONDS: '0.1',
    SANDBOX_PAYMENTS: 'true',
  });
});
afterAll(() => relay?.close());

async function topupOf({ accountId }: Person): Promise<string> {
  const { rows } = await relay.fixture.owner.query('SELECT id FROM topups WHERE account_id = $1', [
    accountId,
  ]);
  return rows[0].id;
}

async function payAgain({ accountId }: Person): Promise<string> {
  const { topupId } = await recordTopup(relay.fixture.billing, {
    ...priceCredits(parseAmount('5'), '1.3'),
    accountId,
    provider: 'manual',
    paymentId: newId(),
    rate: '1.3',
    currency: 'USD',
  });
  return topupId;
}

/** What the books posted for a top-up: credits on the main balance, money as deferred revenue. */
async function postedFor(topupId: string): Promise<{ credits: string; paid: string }> {
  const { rows } = await relay.fixture.owner.query(
    `SELECT a.commodity, e.amount FROM topups t JOIN ledger_entries e ON e.transaction_id = t.transaction_id
     JOIN ledger_accounts a ON a.id = e.ledger_account_id
     WHERE t.id = $1 AND (a.code = 'deferred-revenue' OR a.account_id = t.account_id)`,
    [topupId],
  );
  const of = (commodity: string) =>
    (rows as { commodity: string; amount: bigint }[]).find((row) => row.commodity === commodity)!.amount;
  return { credits: formatAmount(of('CRD')), paid: moneyText(of('PAY'), 'USD') };
}

async function textsOf(someone: Person, path: string): Promise<string[]> {
  const response = await someone.send(path);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('application/pdf');
  expect(response.headers.get('cache-control')).toBe('private, no-store');
  return textsOfPdf(Buffer.from(await response.arrayBuffer()));
}

async function monthNow(): Promise<string> {
  const { rows } = await relay.fixture.owner.query(
    `SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM') AS month`,
  );
  return rows[0].month;
}

/** Makes something happen within one month: if the month ended meanwhile, once more. */
async function inOneMonth<T>(happen: () => Promise<T>): Promise<{ month: string; done: T }> {
  const month = await monthNow();
  const done = await happen();
  return (await monthNow()) === month ? { month, done } : inOneMonth(happen);
}

/** Less than a test may take. */
const PATIENCE_MS = 600_000;

/** A new account that paid for two images. */
async function paidCall(): Promise<Person> {
  const { accountId, apiKey } = await relay.fixture.account({ credits: '5.5' });
  const made = await fetch(`${relay.baseUrl}/v1/images/generations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'vendora-imagine-image', prompt: 'a lighthouse', n: 2 }),
  });
  expect(made.status).toBe(200);
  // Other specs on the server can hold back what is final.
  expect(await markHorizon(relay.fixture.billing, PATIENCE_MS)).toBe(true);
  return person(relay, { accountId });
}

describe('a receipt', () => {
  it('says what the books say, and who issued it', async () => {
    const buyer = await person(relay, { credits: '7.123456789' });
    const topupId = await topupOf(buyer);
    const { credits, paid } = await postedFor(topupId);
    const texts = await textsOf(buyer, `/api/topups/${topupId}/receipt.pdf`);
    expect(texts).toEqual(expect.arrayContaining(['Receipt', topupId, buyer.accountId, credits, paid]));
    const issuer = [
      'Issued by Tollgate Example Ltd.',
      '1 Example Street',
      '10115 Berlin',
      'Tax ID DE000000000',
    ];
    expect(texts).toEqual(expect.arrayContaining(issuer));
  });

  it('is in Chinese for a person who reads Chinese, with the customer’s Chinese name', async () => {
    const buyer = await person(relay);
    await buyer.api.PATCH('/api/account', { body: { name: '上海某某科技有限公司' } });
    await buyer.api.PUT('/api/mail-language', { body: { language: 'zh' } });
    const topupId = await payAgain(buyer);
    const { paid } = await postedFor(topupId);
    const path = `/api/topups/${topupId}/receipt.pdf`;
    const wanted = ['收据', '上海某某科技有限公司', '实付金额', paid];
    expect(await textsOf(buyer, path)).toEqual(expect.arrayContaining(wanted));
    expect(await textsOf(buyer, `${path}?language=en`)).toContain('Total paid');
  });

  it('names the buyer as of the payment, and so does the monthly statement', async () => {
    const buyer = await person(relay, { credits: '5' });
    const nameless = await topupOf(buyer);
    const details = { name: 'Buyer GmbH', address: '2 Market Square\n20095 Hamburg', taxId: 'DE111111111' };
    const enter = (body: Record<keyof typeof details, string | null>) =>
      buyer.api.PUT('/api/account/billing-details', { body });
    expect((await enter(details)).data).toEqual(details);
    const named = await payAgain(buyer);
    await enter({ ...details, name: 'Another GmbH', taxId: 'DE222222222' });
    const receipt = (topupId: string) => textsOf(buyer, `/api/topups/${topupId}/receipt.pdf`);
    expect(await receipt(named)).toEqual(
      expect.arrayContaining([
        'Buyer GmbH',
        '2 Market Square',
        '20095 Hamburg',
        'Tax ID of the customer DE111111111',
      ]),
    );
    expect((await receipt(nameless)).join()).not.toMatch(/GmbH|DE[12]{9}/);
    const { data: before } = await buyer.api.GET('/api/account');
    await buyer.api.PATCH('/api/account', { body: { name: 'Renamed since' } });
    expect(await receipt(nameless)).toContain(before!.name);
    await enter({ name: null, address: null, taxId: null });
    expect(await receipt(await payAgain(buyer))).toContain('Renamed since');
    await enter({ ...details, name: 'Another GmbH', taxId: 'DE222222222' });
    const { rows } = await relay.fixture.owner.query<{ month: string }>(
      `SELECT to_char(recorded_at AT TIME ZONE 'UTC', 'YYYY-MM') AS month FROM billing_details
       WHERE account_id = $1 ORDER BY id DESC LIMIT 1`,
      [buyer.accountId],
    );
    expect(await textsOf(buyer, `/api/statements/${rows[0]!.month}`)).toEqual(
      expect.arrayContaining(['Another GmbH', 'Tax ID of the customer DE222222222']),
    );
    await enter({ ...details, name: 'Another GmbH', taxId: 'DE222222222' });
    const { rowCount } = await relay.fixture.owner.query(
      'SELECT FROM billing_details WHERE account_id = $1',
      [buyer.accountId],
    );
    expect(rowCount).toBe(4);
  });

  it('is for the account that paid and for finance, and for nobody else', async () => {
    const topupId = await topupOf(await person(relay, { credits: '5' }));
    const stranger = await person(relay);
    const finance = await person(relay, { roles: ['finance'] });
    const support = await person(relay, { roles: ['support'] });
    const own = `/api/topups/${topupId}/receipt.pdf`;
    const any = `/api/finance/topups/${topupId}/receipt.pdf`;
    expect((await stranger.send(own)).status).toBe(404);
    expect((await finance.send(own)).status).toBe(404);
    expect((await stranger.send(any)).status).toBe(403);
    expect((await support.send(any)).status).toBe(403);
    expect(await textsOf(finance, any)).toContain(topupId);
    expect((await finance.send(`/api/finance/topups/${newId()}/receipt.pdf`)).status).toBe(404);
    expect((await fetch(`${relay.consoleUrl}${own}`)).status).toBe(401);
  });
});

describe('a monthly statement', () => {
  it('leads from the opening to the closing balance by what the ledger says', async () => {
    const { month, done: owner } = await inOneMonth(paidCall);
    const { rows } = await relay.fixture.owner.query(
      `SELECT b.main + b.held AS balance, (SELECT sum(settled) FROM charges WHERE account_id = $1) AS charged
       FROM customer_balances b WHERE account_id = $1`,
      [owner.accountId],
    );
    const { balance, charged } = rows[0];
    expect(BigInt(charged) > 0n).toBe(true);
    const texts = await textsOf(owner, `/api/statements/${month}`);
    const after = (label: string) => texts[texts.indexOf(label) + 1];
    expect(after('Opening balance')).toBe('0.00');
    expect(after('Top-ups')).toBe('5.50');
    expect(after('Charged: vendora-imagine-image')).toBe(readableAmount(formatAmount(-BigInt(charged))));
    expect(after('Closing balance')).toBe(readableAmount(formatAmount(BigInt(balance))));
    expect(after('Paid for top-ups (1)')).toBe('7.15 USD');

    const finance = await person(relay, { roles: ['finance'] });
    const any = `/api/finance/accounts/${owner.accountId}/statements/${month}`;
    expect(await textsOf(finance, `${any}?language=zh`)).toContain('月度对账单');
    expect((await owner.send(any)).status).toBe(403);
    expect((await finance.send(`/api/finance/accounts/${newId()}/statements/${month}`)).status).toBe(404);
    expect((await owner.send('/api/statements/2026-13')).status).toBe(404);
    expect(await textsOf(owner, '/api/statements/2020-01')).toContain('None');
  });

  it('has a subtotal for each key, and for a single key only what that key did', async () => {
    const { month, done: owner } = await inOneMonth(paidCall);
    const params = { path: { month } };
    const { data: whole } = await owner.api.GET('/api/statements/{month}/by-key', { params });
    const [only] = whole!.keys;
    expect(whole!.keys).toHaveLength(1);
    const charged = whole!.moves.find(({ kind }) => kind === 'settle')!.amount;
    expect(charged).toBe(`-${only!.charged}`);
    const path = `/api/statements/${month}`;
    const texts = await textsOf(owner, path);
    expect(texts[texts.indexOf('Total') + 1]).toBe(charged);
    const ofKey = `keyId=${only!.keyId}`;
    const one = await textsOf(owner, `${path}?${ofKey}`);
    expect(one).not.toContain('Opening balance');
    expect(one[one.indexOf('Total') + 1]).toBe(charged);
    const csv = await (await owner.send(`${path}/by-key.csv?${ofKey}`)).text();
    const row = [only!.keyId, only!.keyName, 'vendora-imagine-image', 1, only!.charged, 0, only!.charged];
    expect(csv.split('\n')[1]).toBe(row.join());

    const stranger = await person(relay);
    for (const end of ['', '/by-key', '/by-key.csv'])
      expect((await stranger.send(`${path}${end}?${ofKey}`)).status).toBe(404);
  });
});

/** Orders credits and pays at the sandbox provider. Returns the order's ID. */
async function paidOrder(buyer: Person): Promise<string> {
  const body = { credits: '10', provider: 'sandbox', requestId: newId() } as const;
  const { data: order } = await buyer.api.POST('/api/topups', { body });
  await fetch(`${relay.consoleUrl}${order!.checkoutUrl!}/pay`, { method: 'POST', redirect: 'manual' });
  return order!.id;
}

describe('the mail after a top-up', () => {
  it('says what was credited and paid, links to the receipt, and comes once, however often it is announced', async () => {
    const buyer = await person(relay);
    const orderId = await paidOrder(buyer);
    const mail = await awaitMail(relay, buyer.email, { subject: /Your Tollgate top-up/ });
    expect(mail.text).toMatch(/Credits: 10\b/);
    expect(mail.text).toContain('13.00 USD');
    expect(mail.text).toContain(`/topups/${orderId}\n`);
    const topupId = await topupOf(buyer);
    await Promise.all([1, 2, 3].map(() => mailTopup(relay.fixture.billing, topupId)));
    await until('all mail to be sent', async () => {
      const { rows } = await relay.fixture.owner.query('SELECT FROM mail_outbox WHERE ended_at IS NULL');
      return rows.length === 0;
    });
    expect(await mailTo(relay, buyer.email)).toHaveLength(1);
  });

  it('links to the statement if there is no order', async () => {
    const buyer = await person(relay, { credits: '5' });
    const topupId = await topupOf(buyer);
    await mailTopup(relay.fixture.billing, topupId);
    const mail = await awaitMail(relay, buyer.email, { subject: /Your Tollgate top-up/ });
    expect(mail.text).toContain('/wallet?tab=statement\n');
    const { data } = await buyer.api.GET('/api/statement', {});
    expect(data!.items.map((line) => line.topupId)).toEqual([topupId]);
    const stranger = await person(relay, { credits: '5' });
    const theirs = await stranger.api.GET('/api/statement', { params: { query: { kind: 'topup' } } });
    expect(theirs.data!.items.map((line) => line.topupId)).toEqual([await topupOf(stranger)]);
  });

  it('is in the language of its reader', async () => {
    const buyer = await person(relay);
    await buyer.api.PUT('/api/mail-language', { body: { language: 'zh' } });
    await paidOrder(buyer);
    const mail = await awaitMail(relay, buyer.email, { subject: /充值已到账/ });
    expect(mail.text).toContain('13.00 USD');
  });
});
