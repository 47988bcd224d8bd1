import { useTranslation } from 'react-i18next';
import { families } from '../../api/enumerations.js';
import { Choice, optionsOf } from '../../ui/lists/choice.js';
import { SearchField } from '../../ui/lists/search-field.js';
import { Toolbar } from '../../ui/lists/toolbar.js';

export function ModelFilters() {
  const { t } = useTranslation('catalog');
  return (
    <Toolbar>
      <SearchField label={t('models.search')} param="text" />
      <Choice label={t('models.family')} options={optionsOf(families, t('families'))} param="family" />
    </Toolbar>
  );
}
