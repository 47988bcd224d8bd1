import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/client.js';
import type { Metric } from '../../ui/charts/metric-chart.js';
import { COSTS, CREDIT_UNIT } from '../../ui/decimal.js';
import { useLocale } from '../../ui/locale.js';
import { useMoneyText } from '../../ui/money.js';
import { families } from '../../api/enumerations.js';
import { type Basis, basisOf, type RevenueMetric, revenueMetrics } from './revenue.js';

type Sums = Shape<'RevenueSums'>;

function valueOf(name: RevenueMetric) {
  return ({ [name]: value }: Sums) => (value === null ? null : String(value));
}

interface RevenueShown extends Metric<Sums, RevenueMetric> {
  /** Null for a count. */
  unit: string | null;
}

/** What the revenue chart can show, in credits or in money. */
export function useRevenueMetrics(currency: string, basis: Basis): RevenueShown[] {
  const { t } = useTranslation('charts');
  const locale = useLocale();
  const [credits, costs, payments] = [useMoneyText(CREDIT_UNIT), useMoneyText(COSTS), useMoneyText(currency)];
  const count = (value: string) => Number(value).toLocaleString(locale);
  const inCredits = { unit: CREDIT_UNIT, text: credits };
  const inCosts = { unit: COSTS, text: costs };
  const counted = { unit: null, text: count };
  const written: Record<RevenueMetric, Pick<RevenueShown, 'unit' | 'text'>> = {
    net: inCredits,
    charges: counted,
    failedCharges: counted,
    refunds: inCredits,
    recognised: { unit: currency, text: payments },
    cost: inCosts,
    margin: inCosts,
  };
  return revenueMetrics
    .filter((name) => basisOf(name) === basis)
    .map((name) => ({ name, label: t(`metrics.${name}`), valueOf: valueOf(name), ...written[name] }));
}

/** The name of a model, type, group or channel. */
export function useWorkName(by: string): (subject: string | null) => string {
  const { t } = useTranslation('charts');
  return (subject) => {
    if (subject === null) return t('others');
    if (subject === '') return t('none');
    if (by !== 'family') return subject;
    const family = [...families, 'adjustment' as const].find((each) => each === subject);
    return family ? t(`families.${family}`) : subject;
  };
}
