import { useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { type Item, useList } from '../../api/client.js';
import { CopyLine } from '../../ui/copy.js';
import { column } from '../../ui/lists/columns.js';
import { DataList, type ListColumn } from '../../ui/lists/data-list.js';
import { PageFrame } from '../../ui/page.js';
import { SearchField } from '../../ui/lists/search-field.js';
import { LedgerAccountLink } from '../transaction-links.js';

/** For people who cannot hover over a customer's name: the id, to copy. */
const CUSTOMER = /^customer:([0-9a-z]{26})/;

type LedgerAccount = Item<'/api/finance/ledger-accounts'>;

/** All ledger accounts by code. */
export default function LedgerAccountsPage() {
  const { t } = useTranslation('finance');
  const { code } = useSearch({ from: '/finance/ledger-accounts' });
  const accountId = code === undefined ? undefined : CUSTOMER.exec(code)?.[1];
  const accounts = useList('/api/finance/ledger-accounts', { query: { code } });
  return (
    <PageFrame title={t('accounts.title')} about={t('accounts.about')}>
      <SearchField label={t('accounts.find')} description={t('accounts.findHint')} param="code" maw="30rem" />
      {accountId !== undefined && <CopyLine value={accountId} label="ID" />}
      <DataList query={accounts} columns={useColumns()} empty={t('accounts.none')} />
    </PageFrame>
  );
}

function useColumns(): ListColumn<LedgerAccount>[] {
  const { t } = useTranslation('finance');
  return [
    column('code', t('accounts.code'), ({ id, code }) => <LedgerAccountLink id={id} code={code} />),
    column('kind', t('accounts.kind'), ({ kind }) => t(`accounts.kinds.${kind}`)),
    column('unit', t('accounts.unit'), ({ commodity, unit }) => `${t(`commodities.${commodity}`)} · ${unit}`),
  ];
}
