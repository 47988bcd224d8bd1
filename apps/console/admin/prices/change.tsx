import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/shape.js';
import { compareDecimals, exactDecimal } from '../../ui/decimal.js';
import { TextLink } from '../../ui/links.js';
import { useLocale } from '../../ui/locale.js';
import { Money } from '../../ui/money.js';
import type { Change } from '../catalog.js';
import { changeInPercent } from './percent.js';
import { PriceLines } from '../../ui/price-lines.js';

type Price = NonNullable<Extract<Change, { kind: 'price' }>['price']>;

/** What a change is about; no two changes of a proposal have the same. */
export function changeKey(change: Change): string {
  return `${change.kind} ${nameOf(change)}`;
}

export function nameOf(change: Change): string {
  return change.kind === 'price' ? change.model : change.group;
}

/** A price with its unit. Null: there is none. */
export function PriceValue({
  price,
  unit,
}: {
  price: Price | null;
  unit: Shape<'Model'>['unit'] | undefined;
}) {
  const { t } = useTranslation('prices');
  if (price === null) return <span className="one-line">{t('value.noPrice')}</span>;
  return (
    <PriceLines
      price={price}
      unit={unit && t(`units.${unit}`)}
      perTokens={t('units.token')}
      tokens={(kind) => t(`tokens.${kind}`)}
    />
  );
}

/** What a change makes of its subject, or what was before it. */
export function ChangeValue({
  change,
  unit,
}: {
  change: Change | null;
  unit?: Shape<'Model'>['unit'] | undefined;
}) {
  const { t } = useTranslation('prices');
  const locale = useLocale();
  if (change === null) return <>{t('value.none')}</>;
  if (change.kind === 'price') return <PriceValue price={change.price} unit={unit} />;
  if (change.kind === 'multiplier')
    return (
      <>
        {change.multiplier === null ? t('value.withdrawn') : `× ${exactDecimal(change.multiplier, locale)}`}
      </>
    );
  if (change.rule === 'none') return <>{t('value.listPrices')}</>;
  return (
    <span>
      <Money value={change.unitPrice} /> {t('value.eachCall')}
    </span>
  );
}

/** By how much a value goes up or down, where both are one number. */
export function Difference({ before, after }: { before: Change | null; after: Change }) {
  const { t } = useTranslation('prices');
  const [old, now] = [before && numberOf(before), numberOf(after)];
  if (now === null) return <>{t('difference.ends')}</>;
  if (old === null) return <>{t('difference.new')}</>;
  if ([before, after].some((change) => change && hasRates(change))) return <>–</>;
  if (compareDecimals(old, '0') === 0) return <>–</>;
  return (
    <Text span size="sm" className="money">
      {changeInPercent(old, now)}
    </Text>
  );
}

function hasRates(change: Change): boolean {
  return change.kind === 'price' && change.price !== null && 'rates' in change.price;
}

/** The one number of a change; of tokens what is written, which costs most. */
function numberOf(change: Change): string | null {
  if (change.kind === 'multiplier') return change.multiplier;
  if (change.kind === 'rule') return change.rule === 'none' ? null : change.unitPrice;
  if (change.price === null) return null;
  return 'unitPrice' in change.price ? change.price.unitPrice : change.price.output;
}

/** A model; leads to its prices. */
export function PricesLink({ model }: { model: string }) {
  return (
    <TextLink to="/admin/prices/models/$model" params={{ model }} size="sm" className="model-name">
      {model}
    </TextLink>
  );
}
