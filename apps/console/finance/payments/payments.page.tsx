import { useTranslation } from 'react-i18next';
import { Disputes } from './disputes.js';
import { Events } from './events.js';
import { RecordTransfer } from './record-transfer.js';
import { Refunds } from './refunds.js';
import { SuspenseList } from './suspense.js';
import { TopUps } from './topups.js';
import { PartPage } from '../../ui/lists/part-tabs.js';

/** Top-ups, money without an order, refunds and disputes. */
export function PaymentsPage() {
  const { t } = useTranslation('payments');
  return (
    <PartPage
      title={t('title')}
      about={t('about')}
      actions={<RecordTransfer />}
      label={t('tabs.label')}
      parts={[
        { name: 'topups', label: t('tabs.topups'), content: () => <TopUps /> },
        { name: 'suspense', label: t('tabs.suspense'), content: () => <SuspenseList /> },
        { name: 'refunds', label: t('tabs.refunds'), content: () => <Refunds /> },
        { name: 'disputes', label: t('tabs.disputes'), content: () => <Disputes /> },
        { name: 'events', label: t('tabs.events'), content: () => <Events /> },
      ]}
    />
  );
}
