import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { exactDecimal } from '../../ui/decimal.js';
import { useLocale } from '../../ui/locale.js';
import { BothPrices, Money } from '../../ui/money.js';
import { ReceiptCard } from '../../ui/lists/receipt-card.js';
import { Loaded } from '../../ui/states.js';
import { isVerified, linesOfQuote, type PublicQuote } from '../market/public-quote.js';
import { useExample } from './example.js';

export function ExampleReceipt() {
  const { t } = useTranslation('landing');
  return (
    <OfExample>
      {(model, quote) => (
        <ReceiptCard
          label={t('receipt.label')}
          title={model}
          about={t('receipt.about')}
          lines={[
            ...workLines(quote),
            { name: 'held', what: t('receipt.held'), amount: <Money value={quote.amount} /> },
            {
              name: 'charged',
              what: t('receipt.charged'),
              amount: <BothPrices value={quote.amount} />,
              isTotal: true,
            },
          ]}
          stamp={isVerified(quote) && t('receipt.verified')}
        />
      )}
    </OfExample>
  );
}

export function FailedReceipt() {
  const { t } = useTranslation('landing');
  return (
    <OfExample>
      {(model, quote) => (
        <ReceiptCard
          label={t('failed.label')}
          title={model}
          about={t('failed.about')}
          lines={[
            { name: 'held', what: t('receipt.held'), amount: <Money value={quote.amount} /> },
            { name: 'fault', what: t('failed.fault'), amount: '503' },
            { name: 'refunded', what: t('failed.refunded'), amount: <Money value={quote.amount} signed /> },
            { name: 'charged', what: t('receipt.charged'), amount: <Money value="0" />, isTotal: true },
          ]}
          stamp={t('failed.stamp')}
        />
      )}
    </OfExample>
  );
}

function OfExample({ children }: { children: (model: string, quote: PublicQuote) => ReactNode }) {
  const { isNone, query } = useExample();
  if (isNone) return null;
  return (
    <Loaded query={query} lines={5}>
      {({ work, quote }) => children(work.model, quote)}
    </Loaded>
  );
}

function workLines(quote: PublicQuote) {
  return linesOfQuote(quote).map(({ units, unitPrice, amount }) => ({
    name: 'work',
    what: <Work units={units} unitPrice={unitPrice} multiplier={quote.multiplier} />,
    amount: <Money value={amount} />,
  }));
}

function Work({ units, unitPrice, multiplier }: { units: string; unitPrice: string; multiplier: string }) {
  const { t } = useTranslation('landing');
  const locale = useLocale();
  return (
    <>
      {t('units.image', { count: Number(units), units: exactDecimal(units, locale) })} ×{' '}
      {exactDecimal(unitPrice, locale)} × {exactDecimal(multiplier, locale)}
    </>
  );
}
