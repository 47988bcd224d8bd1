import { Skeleton } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import { Bank } from './bank.js';
import { Payments } from './payments.js';
import { Payouts } from './payouts.js';
import { PartPage } from '../../ui/lists/part-tabs.js';

/** The place to drop files is only loaded by those who import some. */
const Imports = lazy(async () => ({ default: (await import('./imports.js')).Imports }));

/** What providers and banks say against what our books say, item by item and in both directions. */
export function ReconciliationPage() {
  const { t } = useTranslation('reconciliation');
  const parts = [
    { name: 'payments', label: t('tabs.payments'), content: () => <Payments /> },
    { name: 'payouts', label: t('tabs.payouts'), content: () => <Payouts /> },
    { name: 'bank', label: t('tabs.bank'), content: () => <Bank /> },
    {
      name: 'imports',
      label: t('tabs.imports'),
      content: () => (
        <Suspense fallback={<Skeleton height="24rem" />}>
          <Imports />
        </Suspense>
      ),
    },
  ] as const;
  return <PartPage title={t('title')} about={t('about')} label={t('tabs.label')} parts={parts} />;
}
