import { Button, Tabs } from '@mantine/core';
import { IconDownload, IconPlus, IconUpload } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { ButtonLink } from '../../ui/links.js';
import { Page } from '../../ui/page.js';
import { GroupPrices } from './group-prices.js';
import { ModelPrices } from './model-prices.js';
import { Proposals } from './proposals.js';

const route = getRouteApi('/admin/prices');
const TABS = ['models', 'groups', 'proposals'] as const;
type Tab = (typeof TABS)[number];

/** What is in force, what is proposed, and the ways to propose. */
export function PricesPage() {
  const { t } = useTranslation('prices');
  const { tab = 'models' } = route.useSearch();
  const navigate = route.useNavigate();
  const choose = (chosen: Tab) =>
    void navigate({ search: chosen === 'models' ? {} : { tab: chosen }, replace: true });
  return (
    <Page title={t('title')} about={t('about')} actions={<Actions />}>
      <Tabs value={tab} onChange={(chosen) => choose(chosen as Tab)} keepMounted={false}>
        <Tabs.List aria-label={t('title')} mb="md">
          {TABS.map((name) => (
            <Tabs.Tab key={name} value={name}>
              {t(`tabs.${name}`)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="models">
          <ModelPrices />
        </Tabs.Panel>
        <Tabs.Panel value="groups">
          <GroupPrices />
        </Tabs.Panel>
        <Tabs.Panel value="proposals">
          <Proposals />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}

function Actions() {
  const { t } = useTranslation('prices');
  return (
    <>
      <Button
        component="a"
        href="/api/admin/prices/export.csv"
        download
        variant="default"
        leftSection={<IconDownload size={16} aria-hidden />}
      >
        {t('export')}
      </Button>
      <ButtonLink
        to="/admin/prices/import"
        variant="default"
        leftSection={<IconUpload size={16} aria-hidden />}
      >
        {t('import.open')}
      </ButtonLink>
      <ButtonLink to="/admin/prices/propose" leftSection={<IconPlus size={16} aria-hidden />}>
        {t('propose.open')}
      </ButtonLink>
    </>
  );
}
