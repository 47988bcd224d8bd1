import { IconPlus, IconTag, IconUpload } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { ButtonLink, DownloadButton } from '../../ui/links.js';
import { GroupPrices } from './group-prices.js';
import { ModelPrices } from './model-prices.js';
import { Proposals } from './proposals.js';
import { PartPage } from '../../ui/lists/part-tabs.js';

export default function PricesPage() {
  const { t } = useTranslation('prices');
  return (
    <PartPage
      texts={t('page')}
      actions={<Actions />}
      parts={{ models: <ModelPrices />, groups: <GroupPrices />, proposals: <Proposals /> }}
    />
  );
}

function Actions() {
  const { t } = useTranslation('prices');
  return (
    <>
      <DownloadButton href="/api/admin/prices/export.csv">{t('export')}</DownloadButton>
      <ButtonLink to="/admin/prices/vendors" variant="default" icon={IconTag}>
        {t('vendors.open')}
      </ButtonLink>
      <ButtonLink to="/admin/prices/import" variant="default" icon={IconUpload}>
        {t('import.open')}
      </ButtonLink>
      <ButtonLink to="/admin/prices/propose" icon={IconPlus}>
        {t('propose.open')}
      </ButtonLink>
    </>
  );
}
