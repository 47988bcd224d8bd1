import type { Item } from '../../api/client.js';

export type MappingOfBank = Item<'/api/finance/bank-accounts'>['mapping'];

/** The fields of the form. */
interface MappingValues extends Pick<MappingOfBank, 'delimiter' | 'decimal' | 'encoding' | 'timeZone'> {
  skipLines: number | null;
  dateColumn: string;
  dateFormat: string;
  amountColumn: string;
  debitColumn: string;
  creditColumn: string;
  currency: string;
  reference: string;
  lineId: string;
}

/** Three capital letters are the account's currency; anything else is the name of a column. */
export function mappingOf(values: MappingValues, before: MappingOfBank | undefined): MappingOfBank {
  const { dateColumn, dateFormat, amountColumn, debitColumn, creditColumn, ...rest } = values;
  const { skipLines, currency, reference, lineId, ...reading } = rest;
  return {
    ...reading,
    skipLines: skipLines ?? 0,
    date: { column: dateColumn, format: dateFormat },
    amount:
      amountColumn === ''
        ? { debit: debitColumn, credit: creditColumn }
        : { column: amountColumn, negate: isNegated(before) },
    currency: /^[A-Z]{3}$/.test(currency) ? { fixed: currency } : { column: currency },
    reference: reference.split(',').map((name) => name.trim()),
    ...(lineId === '' ? {} : { lineId }),
  };
}

/** Set over the API only, so a change of the other fields must not turn around the amounts of a bank. */
function isNegated(mapping: MappingOfBank | undefined): boolean {
  return mapping !== undefined && 'column' in mapping.amount && mapping.amount.negate === true;
}
