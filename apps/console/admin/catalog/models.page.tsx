import { IconPlus } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/client.js';
import { column, extra, longText, onPhone, rightColumn } from '../../ui/lists/columns.js';
import { DataList, type ListColumn } from '../../ui/lists/data-list.js';
import { ButtonLink, TextLink, OpenLink } from '../../ui/links.js';
import { PageFrame } from '../../ui/page.js';
import { StatusBadge } from '../../ui/status-badge.js';
import { useModels } from '../catalog.js';
import { CreateModel, OneModel } from './model-forms.js';
import { FormPanel, OpenRow } from '../../ui/forms/dialog.js';
import { ModelFilters } from './model-filters.js';

const route = getRouteApi('/admin/models');

export default function ModelsPage() {
  const { t } = useTranslation('catalog');
  const { text = '', family } = route.useSearch();
  const { data, error, refetch, isPlaceholderData } = useModels();
  const items = data?.filter((model) => (!family || model.family === family) && isNamed(model, text));
  return (
    <PageFrame title={t('models.title')} about={t('models.about')} actions={<Create />}>
      <ModelFilters />
      <DataList
        query={{ data: items && { items }, error, refetch, isPlaceholderData }}
        columns={useColumns()}
        empty={t('models.empty')}
        name="models"
      />
      <OpenForms models={data ?? []} />
    </PageFrame>
  );
}

function isNamed({ id, ownedBy, aliasOf }: Shape<'Model'>, text: string): boolean {
  return `${id} ${ownedBy} ${aliasOf ?? ''}`.toLowerCase().includes(text.trim().toLowerCase());
}

function Create() {
  const { t } = useTranslation('catalog');
  return (
    <>
      <ButtonLink to="/admin/models" search={{ new: 'alias' }} variant="default">
        {t('models.newAlias')}
      </ButtonLink>
      <ButtonLink to="/admin/models" search={{ new: 'model' }} icon={IconPlus}>
        {t('models.newModel')}
      </ButtonLink>
    </>
  );
}

function useColumns(): ListColumn<Shape<'Model'>>[] {
  const { t } = useTranslation('catalog');
  const salesText = ({ group, hindrance }: Shape<'Model'>['sales'][number]) =>
    hindrance === null ? group : t(`models.hindered.${hindrance}`, { group });
  return [
    column('id', t('models.id'), ({ id }) => (
      <OpenLink param="model" value={id} size="sm" className="model-name">
        {id}
      </OpenLink>
    )),
    column('aliasOf', t('models.aliasOf'), ({ aliasOf }) => longText(aliasOf)),
    column('family', t('models.family'), ({ family }) => t(`families.${family}`)),
    extra(column('unit', t('models.unit'), ({ unit }) => t(`units.${unit}`))),
    column('vendor', t('models.vendor'), ({ ownedBy }) => ownedBy),
    column('groups', t('models.groups'), ({ sales }) =>
      longText(sales.map(salesText).join(', ') || t('models.noGroup')),
    ),
    column('state', t('models.state'), ({ enabled }) => <OnOff isOn={enabled} />),
    onPhone(
      'side',
      rightColumn('prices', t('models.prices'), ({ id, aliasOf }) => <Prices model={aliasOf ?? id} />),
    ),
  ];
}

function Prices({ model }: { model: string }) {
  const { t } = useTranslation('catalog');
  const label = t('models.pricesOf', { model });
  return (
    <TextLink to="/admin/prices/models/$model" params={{ model }} size="sm" aria-label={label}>
      {t('models.pricesShort')}
    </TextLink>
  );
}

function OnOff({ isOn }: { isOn: boolean }) {
  const { t } = useTranslation('catalog');
  return <StatusBadge tone={isOn ? 'good' : 'quiet'}>{isOn ? t('state.on') : t('state.off')}</StatusBadge>;
}

function OpenForms({ models }: { models: readonly Shape<'Model'>[] }) {
  const { t } = useTranslation('catalog');
  const { new: wanted, model: id } = route.useSearch();
  const navigate = route.useNavigate();
  const close = () =>
    void navigate({ search: (before) => ({ ...before, new: undefined, model: undefined }) });

  return (
    <>
      <FormPanel
        close={close}
        opened={wanted !== undefined}
        title={wanted === 'alias' ? t('models.newAlias') : t('models.newModel')}
      >
        {wanted && <CreateModel key={wanted} isAlias={wanted === 'alias'} models={models} done={close} />}
      </FormPanel>
      <OpenRow param="model" row={models.find((model) => model.id === id)} title={(model) => model.id}>
        {(model) => <OneModel key={model.id} model={model} done={close} />}
      </OpenRow>
    </>
  );
}
