import { Group } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { families } from '../../api/enumerations.js';
import { Choice } from '../../ui/lists/choice.js';
import { SearchField } from '../../ui/lists/search-field.js';

export function ModelFilters() {
  const { t } = useTranslation('catalog');
  return (
    <Group align="flex-end" gap="sm">
      <SearchField label={t('models.search')} param="text" />
      <Choice
        label={t('models.family')}
        any={t('models.any')}
        options={families.map((value) => ({ value, label: t(`families.${value}`) }))}
        param="family"
      />
    </Group>
  );
}
