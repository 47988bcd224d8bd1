import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/client.js';
import { compareDecimals, exactDecimal } from '../../ui/decimal.js';
import { TextLink } from '../../ui/links.js';
import { useLocale } from '../../ui/locale.js';
import { Money } from '../../ui/money.js';
import type { Change } from '../catalog.js';
import { changeInPercent } from './percent.js';
import { PriceLines } from '../../ui/price-lines.js';

type Price = NonNullable<Extract<Change, { kind: 'price' }>['price']>;
type Unit = Shape<'Model'>['unit'] | undefined;

/** Unique within a proposal. */
export function changeKey(change: Change): string {
  return `${change.kind} ${nameOf(change)}`;
}

export function nameOf(change: Change): string {
  return change.kind === 'price' ? change.model : change.group;
}

/** Null: no price. */
export function PriceValue({ price, unit }: { price: Price | null; unit: Unit }) {
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

export function ChangeValue({ change, unit }: { change: Change | null; unit?: Unit }) {
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

/** The change in percent, if both values are a single number. */
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

/** The number to compare; for tokens the output price, since it is the highest. */
function numberOf(change: Change): string | null {
  if (change.kind === 'multiplier') return change.multiplier;
  if (change.kind === 'rule') return change.rule === 'none' ? null : change.unitPrice;
  if (change.price === null) return null;
  return 'unitPrice' in change.price ? change.price.unitPrice : change.price.output;
}

export function PricesLink({ model }: { model: string }) {
  return (
    <TextLink to="/admin/prices/models/$model" params={{ model }} size="sm" className="model-name">
      {model}
    </TextLink>
  );
}
