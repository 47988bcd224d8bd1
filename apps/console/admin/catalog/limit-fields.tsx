import { NumberInput, SimpleGrid, TagsInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { countLimits, type LimitName, listLimits, type LimitValues } from './limits.js';

interface LimitFieldsProps<Values extends LimitValues> {
  form: UseFormReturnType<Values>;
  isShown: (name: LimitName) => boolean;
}

/** What a call may ask of a model. */
export function LimitFields<Values extends LimitValues>({ form, isShown }: LimitFieldsProps<Values>) {
  const { t } = useTranslation('catalog');
  const field = (name: LimitName) => form.getInputProps(name as never);
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        {countLimits.filter(isShown).map((name) => (
          <NumberInput
            key={name}
            label={t(`limits.${name}`)}
            placeholder={t('limits.none')}
            min={1}
            allowDecimal={false}
            hideControls
            {...field(name)}
          />
        ))}
      </SimpleGrid>
      {listLimits.filter(isShown).map((name) => (
        <TagsInput
          key={name}
          label={t(`limits.${name}`)}
          description={t(`limits.hints.${name}`)}
          splitChars={[',', ' ']}
          acceptValueOnBlur
          {...field(name)}
        />
      ))}
    </>
  );
}
