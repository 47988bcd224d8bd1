import { describe, expect, it } from 'vitest';
import { type MappingOfBank, mappingOf } from './bank-mapping.js';

const values = {
  delimiter: ';',
  decimal: ',',
  encoding: 'windows-1252',
  timeZone: 'Europe/Berlin',
  skipLines: null,
  dateColumn: 'Day',
  dateFormat: 'DD.MM.YYYY',
  amountColumn: 'Amount',
  debitColumn: '',
  creditColumn: '',
  currency: 'EUR',
  reference: 'Purpose, Reference',
  lineId: '',
} as const;

const mapping: MappingOfBank = {
  delimiter: ';',
  decimal: ',',
  encoding: 'windows-1252',
  timeZone: 'Europe/Berlin',
  skipLines: 0,
  date: { column: 'Day', format: 'DD.MM.YYYY' },
  amount: { column: 'Amount', negate: false },
  currency: { fixed: 'EUR' },
  reference: ['Purpose', 'Reference'],
};

describe('how the files of a bank are read', () => {
  it('is what was entered', () => {
    expect(mappingOf(values, undefined)).toEqual(mapping);
    const sides = {
      amountColumn: '',
      debitColumn: 'Out',
      creditColumn: 'In',
      currency: 'Unit',
      lineId: 'No',
    };
    expect(mappingOf({ ...values, ...sides }, mapping)).toMatchObject({
      amount: { debit: 'Out', credit: 'In' },
      currency: { column: 'Unit' },
      lineId: 'No',
    });
  });

  it('keeps the sign of amounts, which the form does not show', () => {
    const negated: MappingOfBank = { ...mapping, amount: { column: 'Amount', negate: true } };
    expect(mappingOf(values, negated).amount).toEqual({ column: 'Amount', negate: true });
    const other = { ...mapping, amount: { debit: 'Out', credit: 'In' } };
    expect(mappingOf(values, other).amount).toEqual({ column: 'Amount', negate: false });
  });
});
