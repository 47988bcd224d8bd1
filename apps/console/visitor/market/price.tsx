import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { relayQuery, type Shape } from '../../api/client.js';
import { Hint } from '../../ui/texts.js';
import { type ListPrice, offerOf } from './market.js';
import { BothPrices } from '../../ui/money.js';
import { PriceLines } from '../../ui/price-lines.js';

interface PriceProps {
  price: ListPrice | null;
  unit: Shape<'ListedModel'>['unit'];
}

/** One amount, or one for each type of tokens. */
export function PriceWithUnit({ price, unit }: PriceProps) {
  const { t } = useTranslation('visitor');
  if (price === null) return <Text size="sm">{t('market.noPrice')}</Text>;
  return (
    <PriceLines
      price={price}
      unit={t(`market.units.${unit}`)}
      perTokens={t('market.units.million_tokens')}
      amount={BothPrices}
      tokens={(kind) => t(`market.tokens.${kind}`)}
    />
  );
}

const NO_GROUPS: readonly string[] = [];

/** The groups in which the viewer may create keys. */
export function useOwnGroups(): readonly string[] {
  return useQuery(relayQuery).data?.groups ?? NO_GROUPS;
}

/** The price in the chosen group, or in the viewer's cheapest, which it names. */
export function Headline({ model, group }: { model: Shape<'ListedModel'>; group?: string | undefined }) {
  const { t } = useTranslation('visitor');
  const own = useOwnGroups();
  const offer = offerOf(model, group === undefined ? own : [group]);
  if (offer === null)
    return (
      <>
        <PriceWithUnit price={model.listPrice} unit={model.unit} />
        <Hint>{t('market.notYours')}</Hint>
      </>
    );
  return (
    <>
      <PriceWithUnit price={offer.price} unit={offer.unit} />
      {model.groups.length > 1 && <Hint>{t('market.inGroup', { group: offer.group })}</Hint>}
    </>
  );
}
