import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useShown } from '../../api/client.js';
import { ButtonLink } from '../../ui/links.js';
import { DataList, rowsOf } from '../../ui/lists/data-list.js';
import { useNow } from '../../ui/time/now.js';
import { SHORTEST_ID } from '../../ui/patterns.js';
import { isNarrowed } from '../../ui/search.js';
import { useLogColumns } from './log-columns.js';
import { logQuery } from './log-search.js';

const route = getRouteApi('/user/logs');
const PAGE = 50;
const MINUTE_MS = 60_000;

export function LogRequests() {
  const { id = '' } = route.useSearch();
  return id.length < SHORTEST_ID ? <Requests /> : <Found id={id} />;
}

function Requests() {
  const { t } = useTranslation('calls');
  const search = route.useSearch();
  const query = logQuery(search, useNow(MINUTE_MS));
  return (
    <DataList
      label={t('log.list')}
      query={useShown('/api/usage', { query: { ...query, limit: PAGE, cursor: search.cursor } })}
      columns={useLogColumns()}
      name="usage"
      rowKey="chargeId"
      empty={isNarrowed(query) ? t('log.noMatch') : firstCall(t)}
    />
  );
}

/** By id, at any time. */
function Found({ id }: { id: string }) {
  const { t } = useTranslation('calls');
  const found = useShown('/api/requests', { query: { id } });
  return (
    <DataList
      label={t('log.list')}
      query={rowsOf(found, ({ items }) => items)}
      columns={useLogColumns()}
      name="usage"
      rowKey="chargeId"
      empty={t('log.notFound')}
    />
  );
}

function firstCall(t: ReturnType<typeof useTranslation<'calls'>>['t']) {
  return {
    title: t('log.empty'),
    hint: t('log.emptyHint'),
    action: (
      <ButtonLink to="/playground" variant="default">
        {t('log.toPlayground')}
      </ButtonLink>
    ),
  };
}
