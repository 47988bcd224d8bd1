import { describe, expect, it } from 'vitest';
import { type BankLine, bankMapping, readBankCsv } from './bank/bank-csv.js';
import type { FileSource } from './csv-rows.js';
import { type ReadRow, readThrough } from './file-rows.js';
import { keptText, type ReportLine, ReportRefused } from './report-line.js';
import { contentOfStripeCsv, readStripeCsv } from './stripe-csv.js';

const HEADER =
  'balance_transaction_id,created_utc,available_on_utc,currency,gross,fee,net,reporting_category,source_id,description,payment_intent_id,automatic_payout_id';

function file(...pieces: (string | Buffer)[]): FileSource {
  return async function* () {
    yield* pieces;
  };
}

async function all<T>(rows: AsyncIterable<ReadRow<T>>): Promise<ReadRow<T>[]> {
  const read: ReadRow<T>[] = [];
  for await (const row of rows) read.push(row);
  return read;
}

async function stripeLines(...rows: string[]): Promise<(ReportLine | string)[]> {
  const read = await all(readStripeCsv(file([HEADER, ...rows].join('\n'))));
  return read.map(({ line, fault }) => line ?? `${fault.line} ${fault.column}: ${fault.reason}`);
}

describe("Stripe's itemised reports", () => {
  it('are read to the cent, with what each line is about', async () => {
    const [payment, refund, dispute, fee] = await stripeLines(
      'txn_1,2026-01-31 23:59:59,2026-02-02 00:00:00,usd,13.00,0.68,12.32,charge,ch_1,Ada <ada@example.com>,pi_1,po_1',
      'txn_2,2026-01-31 10:00:00,,usd,-6.50,0.00,-6.50,refund,re_1,REFUND,pi_1,',
      'txn_3,2026-01-31 10:00,,usd,-13.00,15.00,-28.00,dispute,dp_1,,pi_1,',
      'txn_4,2026-01-31,,usd,-0.25,0,-0.25,fee,,Radar,,',
    );
    expect(payment).toEqual({
      lineId: 'txn_1',
      type: 'payment',
      amountMinor: 1300n,
      feeMinor: 68n,
      currency: 'USD',
      happenedAt: '2026-01-31T23:59:59.000Z',
      availableOn: '2026-02-02',
      subjectId: 'pi_1',
      paymentId: 'pi_1',
      payoutId: 'po_1',
      description: '',
    });
    expect(refund).toMatchObject({
      type: 'refund',
      amountMinor: -650n,
      subjectId: 're_1',
      paymentId: 'pi_1',
    });
    expect(dispute).toMatchObject({
      type: 'dispute',
      amountMinor: -1300n,
      feeMinor: 1500n,
      subjectId: 'dp_1',
    });
    expect(fee).toMatchObject({ type: 'fee', subjectId: 'txn_4', paymentId: null, description: 'Radar' });
  });

  it('list payouts in a separate report', async () => {
    const text =
      'payout_id,effective_at_utc,currency,gross,fee,net,reporting_category,balance_transaction_id\n' +
      'po_1,2026-02-02 00:00:00,usd,-12.32,0.00,-12.32,payout,txn_9\n';
    expect(await contentOfStripeCsv(file(text))).toBe('payouts');
    const [row] = await all(readStripeCsv(file(text)));
    expect(row?.line).toMatchObject({
      type: 'payout',
      subjectId: 'po_1',
      amountMinor: -1232n,
      payoutId: null,
    });
  });

  it('know the decimals of currencies', async () => {
    const [yen, dinar] = await stripeLines(
      'txn_1,2026-01-31 10:00:00,,jpy,1200,43,1157,charge,ch_1,,pi_1,',
      'txn_2,2026-01-31 10:00:00,,kwd,1.005,0,1.005,charge,ch_2,,pi_2,',
    );
    expect(yen).toMatchObject({ amountMinor: 1200n, feeMinor: 43n });
    expect(dinar).toMatchObject({ amountMinor: 1005n });
  });

  it('name the line and the column that cannot be read', async () => {
    expect(
      await stripeLines(
        'txn_1,2026-02-30 10:00:00,,usd,1.00,0,1.00,charge,ch_1,,pi_1,',
        'txn_2,2026-01-31 10:00:00,,usd,"1,5",0,1.00,charge,ch_1,,pi_1,',
        'txn_3,2026-01-31 10:00:00,,usd,1.00,0,1.00,charge,ch_1,,,',
        'txn_4,2026-01-31 10:00:00,,dollars,1.00,0,1.00,charge,ch_1,,pi_1,',
        ',2026-01-31 10:00:00,,usd,1.00,0,1.00,charge,ch_1,,pi_1,',
      ),
    ).toEqual([
      '2 created_utc: must be a time such as 2026-01-31 09:30:00.',
      '3 gross: must be an amount with at most 2 decimals.',
      '4 payment_intent_id: must name what the payment is about.',
      '5 currency: must be an ISO code such as usd.',
      '6 balance_transaction_id: is empty.',
    ]);
  });

  it.each([
    ['another file', 'date,amount\n2026-01-31,3\n', 'The header lacks '],
    ['a report without payments', `${HEADER.replace(',payment_intent_id', '')}\n`, 'lacks payment_intent_id'],
    ['a row with too few cells', `${HEADER}\ntxn_1,2026-01-31\n`, 'This is not CSV'],
    ['a quote that stays open', `${HEADER}\n"txn_1,2026`, 'This is not CSV'],
    ['a column twice', `${HEADER},gross\n`, 'has the column "gross" twice'],
    ['bytes of another encoding', Buffer.from([0x61, 0xff, 0xfe]), 'is not encoded in utf-8'],
  ])('are not %s', async (_, text, reason) => {
    const reading = readThrough(file(text), readStripeCsv, ({ happenedAt }) => happenedAt);
    await expect(reading).rejects.toThrow(ReportRefused);
    await expect(all(readStripeCsv(file(text)))).rejects.toThrow(reason);
  });

  it('can have a byte order mark, any line ends, and come in pieces', async () => {
    const row = 'txn_1,2026-01-31 10:00:00,,usd,1.00,0,1.00,charge,ch_1,"Zürich, CH",pi_1,';
    const bytes = Buffer.from(`\ufeff${HEADER}\r\n${row}\r\n`);
    const pieces = Array.from(bytes, (byte) => Buffer.from([byte]));
    const read = await readThrough(file(...pieces), readStripeCsv, ({ happenedAt }) => happenedAt);
    expect(read.span).toEqual({ from: '2026-01-31T10:00:00.000Z', to: '2026-01-31T10:00:00.000Z' });
    expect(read.sha256).toBe((await readThrough(file(bytes), readStripeCsv, () => '')).sha256);
  });
});

const GERMAN = {
  delimiter: ';',
  encoding: 'windows-1252',
  skipLines: 2,
  decimal: ',',
  date: { column: 'Buchungstag', format: 'DD.MM.YYYY' },
  amount: { column: 'Betrag' },
  currency: { column: 'Währung' },
  reference: ['Verwendungszweck'],
};

const TODAY = '2026-06-15';
const DAYS = { from: '2020-01-01', to: '2999-01-01' };

async function bankLines(mapping: unknown, text: string | Buffer): Promise<(BankLine | string)[]> {
  const read = await all(readBankCsv(file(text), bankMapping.parse(mapping), { today: TODAY, days: DAYS }));
  return read.map(({ line, fault }) => line ?? `${fault.line} ${fault.column}: ${fault.reason}`);
}

describe("a bank's file", () => {
  it('is read with decimal commas, other separators and old encodings', async () => {
    const text = `Konto;4711\n\nBuchungstag;Betrag;Währung;Verwendungszweck\n31.01.2026;1.234,56;EUR;"STRIPE ""po_1"""\n1.2.2026;-12,5;EUR;Gebühr\n`;
    const lines = await bankLines(GERMAN, Buffer.from(text, 'latin1'));
    expect(lines).toMatchObject([
      { bookedOn: '2026-01-31', amountMinor: 123456n, currency: 'EUR', reference: 'STRIPE "po_1"' },
      { bookedOn: '2026-02-01', amountMinor: -1250n, reference: 'Gebühr' },
    ]);
  });

  it('is read with separate columns for debits and credits, and its own ids', async () => {
    const mapping = {
      date: { column: 'Date', format: 'MM/DD/YY' },
      amount: { debit: 'Out', credit: 'In' },
      currency: { fixed: 'USD' },
      reference: ['Memo', 'Detail'],
      lineId: 'Id',
    };
    const text = `Date,Out,In,Memo,Detail,Id\n01/31/26,,"1,300.00",INV-7,bank-4711,A1\n01/31/26,-20.00,,rent,,A2\n01/31/26,5,5,x,,A3\n01/31/26,,,x,,A4\n`;
    expect(await bankLines(mapping, text)).toEqual([
      {
        lineId: 'A1',
        bookedOn: '2026-01-31',
        amountMinor: 130000n,
        currency: 'USD',
        reference: 'INV-7 bank-4711',
      },
      { lineId: 'A2', bookedOn: '2026-01-31', amountMinor: -2000n, currency: 'USD', reference: 'rent' },
      '4 In: must be empty where Out is not.',
      '5 In: is empty, as is Out.',
    ]);
  });

  it.each([
    ['12.00-', -1200n],
    ['(12.00)', -1200n],
    ['+ 3', 300n],
    ["1'234.5", 123450n],
    ['\u22121.00', -100n],
  ])('has amounts such as %s', async (text, amountMinor) => {
    const mapping = {
      date: { column: 'd' },
      amount: { column: 'a' },
      currency: { fixed: 'CHF' },
      reference: ['r'],
    };
    expect(await bankLines(mapping, `d,a,r\n2026-01-31,"${text}",x\n`)).toMatchObject([{ amountMinor }]);
  });

  const NO_AMOUNTS = [
    '1,2,3',
    '1.2.3',
    '1,23.00',
    'NaN',
    '0.001',
    '1e5',
    '(12.00',
    '12.00)',
    '-12.00-',
    '-(1)',
    '-',
  ];
  it.each(NO_AMOUNTS)('has no amounts such as %s', async (text) => {
    const mapping = {
      date: { column: 'd' },
      amount: { column: 'a' },
      currency: { fixed: 'CHF' },
      reference: ['r'],
    };
    expect(await bankLines(mapping, `d,a,r\n2026-01-31,"${text}",x\n`)).toEqual([
      '2 a: must be an amount such as 1,234.56.',
    ]);
  });

  it('numbers equal lines of a day in their order', async () => {
    const mapping = {
      date: { column: 'd' },
      amount: { column: 'a' },
      currency: { fixed: 'USD' },
      reference: ['r'],
    };
    const [first, second, other] = (await bankLines(
      mapping,
      'd,a,r\n2026-01-31,1,x\n2026-01-31,1,x\n2026-01-31,2,x\n',
    )) as BankLine[];
    expect([first, second, other].map((line) => line?.lineId.slice(-2))).toEqual(['-1', '-2', '-1']);
    const again = (await bankLines(mapping, 'd,a,r\n2026-01-31,2,x\n2026-01-31,1,x\n')) as BankLine[];
    expect(again.map(({ lineId }) => lineId)).toEqual([other?.lineId, first?.lineId]);
  });

  it('refuses a mapping that makes no sense, and a file without its columns', async () => {
    for (const bad of [
      { ...GERMAN, date: { column: 'x', format: 'DD.MM' } },
      { ...GERMAN, date: { column: 'x', format: 'YYYY-MM-DD YY' } },
      { ...GERMAN, date: { column: 'x', format: 'DD.MM.YYYYYY' } },
      { ...GERMAN, date: { column: 'x', format: 'DD.MM.DD.YY' } },
      { ...GERMAN, decimal: ';' },
      { ...GERMAN, amount: { debit: 'x' } },
      { ...GERMAN, reference: [] },
      { ...GERMAN, other: 1 },
    ])
      expect(bankMapping.safeParse(bad).success).toBe(false);
    await expect(bankLines({ ...GERMAN, skipLines: 0 }, 'a;b\n1;2\n')).rejects.toThrow('lacks "Buchungstag"');
  });
});

describe('text that is kept', () => {
  it('has one line, no addresses of people and an end', () => {
    expect(keptText(' a\nb\u0000c <ada@example.com> ')).toBe('a b c <…>');
    expect(keptText('x'.repeat(300))).toHaveLength(200);
  });
});
