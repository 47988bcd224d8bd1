import { useTranslation } from 'react-i18next';
import { exactDecimal } from '../../ui/decimal.js';
import { useLocale } from '../../ui/locale.js';
import { BothPrices, Money } from '../../ui/money.js';
import { ReceiptCard, type ReceiptLine } from '../../ui/lists/receipt-card.js';
import { Loaded } from '../../ui/states.js';
import { isVerified, linesOfQuote, type PublicQuote } from '../market/public-quote.js';
import { useExample } from './example.js';

export function ExampleReceipt() {
  const { t } = useTranslation('landing');
  const linesOf = (quote: PublicQuote): ReceiptLine[] => [
    ...workLines(quote),
    { name: 'held', what: t('receipt.held'), amount: <Money value={quote.amount} /> },
    {
      name: 'charged',
      what: t('receipt.charged'),
      amount: <BothPrices value={quote.amount} />,
      isTotal: true,
    },
  ];
  const stampOf = (quote: PublicQuote) => isVerified(quote) && t('receipt.verified');
  return <Receipt texts={t('receipt')} linesOf={linesOf} stampOf={stampOf} />;
}

export function FailedReceipt() {
  const { t } = useTranslation('landing');
  const linesOf = (quote: PublicQuote): ReceiptLine[] => [
    { name: 'held', what: t('receipt.held'), amount: <Money value={quote.amount} /> },
    { name: 'fault', what: t('failed.fault'), amount: '503' },
    { name: 'refunded', what: t('failed.refunded'), amount: <Money value={quote.amount} signed /> },
    { name: 'charged', what: t('receipt.charged'), amount: <Money value="0" />, isTotal: true },
  ];
  return <Receipt texts={t('failed')} linesOf={linesOf} stampOf={() => t('failed.stamp')} />;
}

interface ReceiptProps {
  texts: { label: string; about: string };
  linesOf: (quote: PublicQuote) => ReceiptLine[];
  stampOf: (quote: PublicQuote) => string | false;
}

/** Of today's example call. */
function Receipt({ texts, linesOf, stampOf }: ReceiptProps) {
  const { isNone, query } = useExample();
  if (isNone) return null;
  return (
    <Loaded query={query} lines={5}>
      {({ work, quote }) => (
        <ReceiptCard
          label={texts.label}
          title={work.model}
          about={texts.about}
          lines={linesOf(quote)}
          stamp={stampOf(quote)}
        />
      )}
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
