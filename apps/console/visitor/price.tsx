import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../api/shape.js';
import type { ListPrice } from './market.js';
import { PriceLines } from '../ui/price-lines.js';

interface PriceProps {
  price: ListPrice | null;
  unit: Shape<'ListedModel'>['unit'];
}

/** A price with its unit: one amount, or one for each kind of tokens. */
export function PriceWithUnit({ price, unit }: PriceProps) {
  const { t } = useTranslation('visitor');
  if (price === null) return <Text size="sm">{t('market.noPrice')}</Text>;
  return (
    <PriceLines
      price={price}
      unit={t(`market.units.${unit}`)}
      perTokens={t('market.units.million_tokens')}
      tokens={(kind) => t(`market.tokens.${kind}`)}
    />
  );
}
