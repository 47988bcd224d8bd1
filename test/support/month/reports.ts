import type { ProviderLine } from './provider.js';
import type { BankTransfer } from './month.js';

const CATEGORY: Record<ProviderLine['type'], string> = {
  charge: 'charge',
  refund: 'refund',
  dispute: 'dispute',
  dispute_reversal: 'dispute_reversal',
  payout: 'payout',
};

/** The provider's itemised report of everything but payouts. */
export function activityCsv(lines: readonly ProviderLine[]): string {
  const rows = lines
    .filter(({ type }) => type !== 'payout')
    .map((line) =>
      [
        line.lineId,
        timeOf(line.at),
        line.currency,
        units(line.gross),
        units(line.fee),
        units(line.gross - line.fee),
        CATEGORY[line.type],
        line.sourceId,
        line.paymentId ?? '',
        line.payoutId ?? '',
        '',
      ].join(','),
    );
  const titles =
    'balance_transaction_id,created_utc,currency,gross,fee,net,reporting_category,source_id,payment_intent_id,automatic_payout_id,description';
  return [titles, ...rows, ''].join('\n');
}

/** The provider's itemised report of payouts. */
export function payoutsCsv(lines: readonly ProviderLine[]): string {
  const rows = lines
    .filter(({ type }) => type === 'payout')
    .map(({ lineId, sourceId, at, currency, gross, fee }) =>
      [sourceId, timeOf(at), lineId, currency, units(gross), units(fee), 'payout'].join(','),
    );
  const titles = 'payout_id,effective_at_utc,balance_transaction_id,currency,gross,fee,reporting_category';
  return [titles, ...rows, ''].join('\n');
}

/** The bank's statement of our account, in the format of such banks. */
export function bankCsv(lines: readonly ProviderLine[], transfers: readonly BankTransfer[]): string {
  const payouts = lines
    .filter(({ type }) => type === 'payout')
    .map(({ at, gross, sourceId }) => ({ at, amount: -gross, reference: `STRIPE ${sourceId}` }));
  const received = transfers.map(({ at, amountMinor, reference }) => ({
    at,
    reference,
    amount: Number(amountMinor),
  }));
  const rows = [...payouts, ...received].map(({ at, amount, reference }) =>
    [dayOf(at), units(amount).replace('.', ','), 'USD', reference].join(';'),
  );
  return ['Buchungstag;Betrag;Waehrung;Verwendungszweck', ...rows, ''].join('\n');
}

export const BANK_MAPPING = {
  delimiter: ';',
  date: { column: 'Buchungstag', format: 'DD.MM.YYYY' },
  amount: { column: 'Betrag' },
  decimal: ',',
  currency: { column: 'Waehrung' },
  reference: ['Verwendungszweck'],
} as const;

function timeOf(at: Date): string {
  return at.toISOString().slice(0, 19).replace('T', ' ');
}

function dayOf(at: Date): string {
  return at.toISOString().slice(0, 10).split('-').reverse().join('.');
}

function units(minor: number): string {
  return (minor / 100).toFixed(2);
}
