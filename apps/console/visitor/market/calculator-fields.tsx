import { NumberInput, type NumberInputProps, Select, Stack } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/client.js';
import {
  ratedChoices,
  isByTokens,
  MOST_CALLS,
  MOST_TOKENS,
  secondsOf,
  type Wish,
} from './calculator-work.js';
import type { ListPrice } from './market.js';

interface WishFieldsProps {
  model: Shape<'ListedModel'>;
  price: ListPrice;
  wish: Wish;
  set: (change: Partial<Wish>) => void;
}

export function WishFields(props: WishFieldsProps) {
  const { model, wish, set } = props;
  const { t } = useTranslation('models');
  return (
    <Stack gap="sm">
      <Whole
        label={t(`calculator.calls.${model.family}`)}
        max={MOST_CALLS}
        value={wish.calls}
        onChange={(calls) => set({ calls })}
      />
      {model.unit === 'second' && <Seconds {...props} />}
      {isByTokens(model) && <TokenFields {...props} />}
      <DimensionFields {...props} />
    </Stack>
  );
}

function Seconds({ model, wish, set }: WishFieldsProps) {
  const { t } = useTranslation('models');
  const { least, most } = secondsOf(model);
  return (
    <Whole
      label={t('calculator.seconds')}
      min={least}
      max={most}
      value={wish.seconds}
      onChange={(seconds) => set({ seconds })}
    />
  );
}

function TokenFields({ wish, set }: WishFieldsProps) {
  const { t } = useTranslation('models');
  return (['inputTokens', 'outputTokens'] as const).map((name) => (
    <Whole
      key={name}
      label={t(`calculator.${name}`)}
      min={0}
      max={MOST_TOKENS}
      value={wish[name]}
      onChange={(tokens) => set({ [name]: tokens })}
    />
  ));
}

function DimensionFields({ price, wish, set }: WishFieldsProps) {
  const { t } = useTranslation('models');
  return ratedChoices(price).map(({ name, values }) => (
    <Select
      key={name}
      label={t(`calculator.dimensions.${name}`)}
      placeholder={t('calculator.usual')}
      data={values}
      value={wish.dimensions[name] ?? null}
      onChange={(value) => set({ dimensions: { ...wish.dimensions, [name]: value ?? '' } })}
      clearable
      clearButtonProps={{ 'aria-label': t('calculator.clear') }}
    />
  ));
}

function Whole(props: NumberInputProps) {
  return (
    <NumberInput
      min={1}
      allowDecimal={false}
      allowNegative={false}
      thousandSeparator
      hideControls
      {...props}
    />
  );
}
