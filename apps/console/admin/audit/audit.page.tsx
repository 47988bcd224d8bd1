import { Group, Stack, Text } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useShown } from '../../api/lists.js';
import type { Shape } from '../../api/shape.js';
import { Who } from '../../shell/who.js';
import { column, longTextColumn, menuColumn, onPhone, personColumn } from '../../ui/lists/columns.js';
import { Choice } from '../../ui/lists/choice.js';
import { type ListColumn, DataList } from '../../ui/lists/data-list.js';
import { changesBetween, type FieldChange } from '../../ui/forms/fields-of.js';
import { ButtonLink, TextLink, OpenLink } from '../../ui/links.js';
import { PageFrame } from '../../ui/page.js';
import { PlainTable } from '../../ui/lists/plain-table.js';
import { WordsField } from '../../ui/lists/search-field.js';
import { TextLine } from '../../ui/texts.js';
import { Ago, When } from '../../ui/time/when.js';
import { useActions } from './audit-actions.js';
import { AuditSubject } from './audit-subject.js';
import { OpenRow } from '../../ui/forms/dialog.js';
import { isNarrowed } from '../../ui/search.js';

const route = getRouteApi('/admin/audit-log');
const PAGE = 50;

/** What was changed, by whom, from what to what. */
export function AuditPage() {
  const { t } = useTranslation('admin');
  const { nameOf, known } = useActions();
  const { cursor, entry, action, ...others } = route.useSearch();
  const filter = { ...others, action: known(action) };
  const entries = useShown('/api/admin/audit-log', { query: { ...filter, limit: PAGE, cursor } });
  const isFiltered = isNarrowed(filter);
  return (
    <PageFrame title={t('audit.title')} about={t('audit.about')}>
      <Stack>
        <Filters />
        <DataList
          label={t('audit.label')}
          query={entries}
          columns={useColumns()}
          rowKey={({ id }) => id}
          empty={{
            title: isFiltered ? t('audit.noMatch') : t('audit.empty'),
            hint: isFiltered ? t('audit.noMatchHint') : t('audit.emptyHint'),
            action: isFiltered && (
              <ButtonLink to="/admin/audit-log" variant="default">
                {t('audit.all')}
              </ButtonLink>
            ),
          }}
          isPaged
        />
      </Stack>
      <OpenRow
        param="entry"
        size="xl"
        row={entries.data?.items.find(({ id }) => id === entry)}
        title={({ action }) => nameOf(action)}
      >
        {(open) => <Details entry={open} />}
      </OpenRow>
    </PageFrame>
  );
}

const FILTERS = ['subject', 'actor', 'accountId'] as const;

function Filters() {
  const { t } = useTranslation('admin');
  const { options } = useActions();
  return (
    <Group align="flex-end" gap="sm">
      <Choice param="action" label={t('audit.action')} options={options} width="14rem" searchable />
      {FILTERS.map((name) => (
        <WordsField
          key={name}
          label={t(`audit.${name}`)}
          placeholder={t(`audit.such.${name}`)}
          param={name}
          w={{ base: '100%', xs: '14rem' }}
        />
      ))}
    </Group>
  );
}

function useColumns(): ListColumn<Shape<'AuditEntry'>>[] {
  const { t } = useTranslation('admin');
  const { nameOf } = useActions();
  return [
    column('at', t('audit.at'), ({ id, recordedAt }) => (
      <OpenLink param="entry" value={id} size="sm">
        <Ago at={recordedAt} />
      </OpenLink>
    )),
    column('action', t('audit.action'), ({ action }) => <span title={action}>{nameOf(action)}</span>),
    column('subject', t('audit.subject'), ({ subject }) => (
      <TextLink to="/admin/audit-log" search={{ subject }} size="sm" className="model-name">
        <AuditSubject subject={subject} />
      </TextLink>
    )),
    personColumn('actor', t('audit.actor')),
    onPhone(
      'hidden',
      column('changes', t('audit.changes'), ({ before, after }) => (
        <span className="model-name">
          {changesBetween(before, after)
            .slice(0, 2)
            .map((change) => `${change.path}: ${change.after ?? '–'}`)
            .join(', ') || '–'}
        </span>
      )),
    ),
    menuColumn(({ action, subject, actor, accountId }) => [
      { copy: subject },
      { only: { action }, what: nameOf(action) },
      { only: { actor }, what: t('audit.thisActor') },
      ...(accountId === null ? [] : [{ only: { accountId }, what: t('list.account', { ns: 'shell' }) }]),
    ]),
  ];
}

function Details({ entry }: { entry: Shape<'AuditEntry'> }) {
  const { t } = useTranslation('admin');
  const { action, subject, actor, accountId, recordedAt, requestId, before, after } = entry;
  const changes = changesBetween(before, after);
  return (
    <Stack>
      <Text className="model-name">
        {action} · {subject}
      </Text>
      <TextLine>
        <Who actor={actor} /> · <When at={recordedAt} />
      </TextLine>
      {accountId !== null && (
        <TextLink to="/support/accounts/$accountId" params={{ accountId }} size="sm">
          {t('audit.account')}
        </TextLink>
      )}
      {changes.length === 0 ? <Text>{t('audit.noChanges')}</Text> : <Changes changes={changes} />}
      {requestId !== null && (
        <Text size="sm" c="dimmed" className="model-name">
          {t('audit.request')} {requestId}
        </Text>
      )}
    </Stack>
  );
}

function Changes({ changes }: { changes: readonly FieldChange[] }) {
  const { t } = useTranslation('admin');
  const columns: ListColumn<FieldChange>[] = [
    longTextColumn('path', t('audit.field')),
    column('before', t('audit.before'), ({ before }) => <span className="model-name">{before ?? '–'}</span>),
    column('after', t('audit.after'), ({ after }) => <span className="model-name">{after ?? '–'}</span>),
  ];
  const label = t('audit.changes');
  return (
    <PlainTable label={label} columns={columns} rows={changes} rowKey={({ path }) => path} layout="fixed" />
  );
}
