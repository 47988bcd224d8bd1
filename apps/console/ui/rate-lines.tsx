import type { ComponentType } from 'react';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../api/client.js';
import { Labelled } from './texts.js';

type ListPrice = NonNullable<Shape<'ListedModel'>['listPrice']>;
export type RatedPrice = Extract<ListPrice, { unitPrice: string }>;
type Dimensions = NonNullable<RatedPrice['rates']>[number]['when'];

/** What prices may depend on, named as in requests. */
export const dimensionNames = ['size', 'quality', 'resolution', 'input', 'mode', 'audio', 'length'] as const;

/** Describes the options of a request or a rate. */
export function useDimensionWords(): (dimensions: {
  [Name in keyof Dimensions]?: string | undefined;
}) => string {
  const { t } = useTranslation('shell');
  return (dimensions) =>
    dimensionNames
      .flatMap((name) => {
        const value = dimensions[name];
        return value === undefined ? [] : [t(`rates.${name}`, { value })];
      })
      .join(t('comma'));
}

interface RateLinesProps {
  price: RatedPrice;
  unit: string | undefined;
  amount: ComponentType<{ value: string }>;
}

/** One line per rate, in the order in which they apply, and one for all other requests. */
export function RateLines({ price, unit, amount: Amount }: RateLinesProps) {
  const { t } = useTranslation('shell');
  const words = useDimensionWords();
  return (
    <span className="price-lines">
      {price.rates?.map(({ when, unitPrice }) => (
        <span key={words(when)}>
          <Labelled label={words(when)}>
            <Amount value={unitPrice} />
          </Labelled>
        </span>
      ))}
      <span>
        <Labelled label={t('rates.otherwise')}>
          <Amount value={price.unitPrice} /> <span className="one-line">{unit}</span>
        </Labelled>
      </span>
    </span>
  );
}
