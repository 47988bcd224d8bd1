import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../api/shape.js';
import { Money } from '../ui/money.js';
import type { ListPrice } from './market.js';

interface PriceProps {
  price: ListPrice | null;
  unit: Shape<'ListedModel'>['unit'];
}

/** A price with its unit: one amount, or one for each kind of tokens. */
export function PriceWithUnit({ price, unit }: PriceProps) {
  const { t } = useTranslation('visitor');
  if (price === null) return <Text size="sm">{t('market.noPrice')}</Text>;
  if ('unitPrice' in price) {
    return (
      <span>
        <Money value={price.unitPrice} /> {t(`market.units.${unit}`)}
      </span>
    );
  }
  const kinds = ['input', 'cachedInput', 'output', 'cacheWrite', 'cacheWrite1h'] as const;
  return (
    <span className="price-lines">
      {kinds.map((kind) => {
        const amount = price[kind];
        return (
          amount !== undefined && (
            <span key={kind}>
              {t(`market.tokens.${kind}`)}: <Money value={amount} />
            </span>
          )
        );
      })}
      <span>{t('market.units.million_tokens')}</span>
    </span>
  );
}
