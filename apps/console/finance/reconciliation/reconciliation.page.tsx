import { Skeleton } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import { Bank } from './bank.js';
import { Payments } from './payments.js';
import { Payouts } from './payouts.js';
import { PartPage } from '../../ui/lists/part-tabs.js';

/** The code for imports is loaded on this tab only. */
const Imports = lazy(async () => ({ default: (await import('./imports.js')).Imports }));

/** Reports of providers and banks compared with our books, item by item, in both directions. */
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
