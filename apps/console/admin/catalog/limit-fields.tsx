import { NumberInput, SimpleGrid, TagsInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Inputs } from '../../ui/forms/fields.js';
import { countLimits, type LimitField, listLimits } from './limits.js';

interface LimitFieldsProps {
  form: Inputs;
  isShown: (name: LimitField) => boolean;
}

/** What a call may ask of a model. */
export function LimitFields({ form, isShown }: LimitFieldsProps) {
  const { t } = useTranslation('catalog');
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
            {...form.getInputProps(name)}
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
          {...form.getInputProps(name)}
        />
      ))}
    </>
  );
}
