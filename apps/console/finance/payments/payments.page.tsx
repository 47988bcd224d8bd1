import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Page } from '../../ui/page.js';
import { PartTabs } from '../part-tabs.js';
import { Disputes } from './disputes.js';
import { Events } from './events.js';
import { RecordTransfer } from './record-transfer.js';
import { Refunds } from './refunds.js';
import { SuspenseList } from './suspense.js';
import { TopUps } from './topups.js';

const route = getRouteApi('/finance/payments');

/** Money that came in, what it could not be told of, and what went back. */
export function PaymentsPage() {
  const { t } = useTranslation('payments');
  const { tab = 'topups' } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <Page title={t('title')} about={t('about')} actions={<RecordTransfer />}>
      <PartTabs
        label={t('tabs.label')}
        parts={[
          { name: 'topups', label: t('tabs.topups'), content: () => <TopUps /> },
          { name: 'suspense', label: t('tabs.suspense'), content: () => <SuspenseList /> },
          { name: 'refunds', label: t('tabs.refunds'), content: () => <Refunds /> },
          { name: 'disputes', label: t('tabs.disputes'), content: () => <Disputes /> },
          { name: 'events', label: t('tabs.events'), content: () => <Events /> },
        ]}
        open={tab}
        choose={(name) => void navigate({ search: name === 'topups' ? {} : { tab: name } })}
      />
    </Page>
  );
}
