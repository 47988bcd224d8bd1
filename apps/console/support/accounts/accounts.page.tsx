import { Stack } from '@mantine/core';
import { useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { type Shape, useList } from '../../api/client.js';
import { column, menuColumn, moneyColumn, timeColumn } from '../../ui/lists/columns.js';
import { DataList, type ListColumn } from '../../ui/lists/data-list.js';
import { TextLink } from '../../ui/links.js';
import { PageFrame } from '../../ui/page.js';
import { SearchField } from '../../ui/lists/search-field.js';
import { Frozen } from './frozen.js';

const PAGE = 25;

/** The server ignores shorter searches. */
const FEWEST_CHARS = 2;

/** Finds a customer by name, email address, key or id. */
export default function AccountsPage() {
  const { t } = useTranslation('support');
  return (
    <PageFrame title={t('accounts.title')} about={t('accounts.about')}>
      <Stack>
        <SearchField
          label={t('accounts.search')}
          description={t('accounts.searchHint')}
          param="query"
          maw="36rem"
        />
        <AccountList />
      </Stack>
    </PageFrame>
  );
}

function AccountList() {
  const { t } = useTranslation('support');
  const { query } = useSearch({ from: '/support/accounts' });
  const isLongEnough = (query?.length ?? 0) >= FEWEST_CHARS;
  const asked = { limit: PAGE, ...(isLongEnough ? { query } : {}) };
  const accounts = useList('/api/support/accounts', { query: asked });
  return (
    <DataList
      label={t('accounts.label')}
      query={accounts}
      columns={useColumns()}
      rowKey="accountId"
      empty={isLongEnough ? t('accounts.noMatch') : t('accounts.empty')}
    />
  );
}

function useColumns(): ListColumn<Shape<'FoundAccount'>>[] {
  const { t } = useTranslation('support');
  return [
    column('name', t('accounts.name'), ({ accountId, name }) => (
      <TextLink to="/support/accounts/$accountId" params={{ accountId }} size="sm" className="model-name">
        {name}
      </TextLink>
    )),
    column('email', t('accounts.email'), ({ email }) => (
      <span className="model-name">{email ?? t('accounts.noPerson')}</span>
    )),
    moneyColumn('main', t('accounts.main')),
    column('state', t('accounts.state'), ({ frozen }) => <Frozen isFrozen={frozen} />),
    timeColumn('createdAt', t('accounts.created')),
    menuColumn(({ accountId }) => [{ copy: accountId }]),
  ];
}
