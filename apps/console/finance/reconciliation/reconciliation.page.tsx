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
export default function ReconciliationPage() {
  const { t } = useTranslation('reconciliation');
  const parts = { payments: <Payments />, payouts: <Payouts />, bank: <Bank />, imports: <LateImports /> };
  return <PartPage texts={t('page')} parts={parts} />;
}

function LateImports() {
  return (
    <Suspense fallback={<Skeleton height="24rem" />}>
      <Imports />
    </Suspense>
  );
}
