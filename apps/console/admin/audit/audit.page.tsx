import { Group, Stack, Text } from '@mantine/core';
import { useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { type Shape, useList } from '../../api/client.js';
import { Who } from '../../shell/who.js';
import { column, longText, menuColumn, offPhone, openColumn, personColumn } from '../../ui/lists/columns.js';
import { DataList, type ListColumn } from '../../ui/lists/data-list.js';
import { Choice } from '../../ui/lists/choice.js';
import { NONE } from '../../ui/lists/phone-row.js';
import { changesBetween, type FieldChange } from '../../ui/forms/fields-of.js';
import { ButtonLink, TextLink } from '../../ui/links.js';
import { PageFrame } from '../../ui/page.js';
import { PlainTable } from '../../ui/lists/plain-table.js';
import { WordsField } from '../../ui/lists/search-field.js';
import { TextLine, useLabelled } from '../../ui/texts.js';
import { When } from '../../ui/time/when.js';
import { OpenRow } from '../../ui/forms/dialog.js';
import { isNarrowed } from '../../ui/search.js';
import { Named } from '../../ui/named.js';
import { ID } from '../../ui/patterns.js';

const PAGE = 50;

export default function AuditPage() {
  const { t } = useTranslation('admin');
  const { known } = useActions();
  const { cursor: _, entry, action, ...others } = useSearch({ from: '/admin/audit-log' });
  const filter = { ...others, action: known(action) };
  const entries = useList('/api/admin/audit-log', { query: { ...filter, limit: PAGE } });
  return (
    <PageFrame title={t('audit.title')} about={t('audit.about')}>
      <Filters />
      <DataList texts={useTexts(isNarrowed(filter))} query={entries} columns={useColumns()} />
      <OpenEntry entry={entries.data?.items.find(({ id }) => id === entry)} />
    </PageFrame>
  );
}

function useTexts(isFiltered: boolean) {
  const { t } = useTranslation('admin');
  const label = t('audit.label');
  if (!isFiltered) return { label, empty: t('audit.empty') };
  const action = (
    <ButtonLink to="/admin/audit-log" variant="default">
      {t('audit.all')}
    </ButtonLink>
  );
  return { label, empty: { title: t('audit.noMatch'), hint: t('audit.noMatchHint'), action } };
}

function OpenEntry({ entry }: { entry: Shape<'AuditEntry'> | undefined }) {
  const { nameOf } = useActions();
  return (
    <OpenRow param="entry" size="xl" row={entry} title={({ action }) => nameOf(action)}>
      {(open) => <Details entry={open} />}
    </OpenRow>
  );
}

const FILTERS = ['subject', 'actor', 'accountId'] as const;

function Filters() {
  const { t } = useTranslation('admin');
  const { options } = useActions();
  const labelled = useLabelled();
  return (
    <Group gap="sm">
      <Choice param="action" label={t('audit.action')} options={options} width="14rem" searchable />
      {FILTERS.map((name) => (
        <WordsField
          key={name}
          aria-label={t(`audit.${name}`)}
          placeholder={labelled(t(`audit.${name}`), t(`audit.such.${name}`))}
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
    openColumn('entry', t('audit.at'), ({ id, recordedAt: at }) => ({ id, at })),
    column('action', t('audit.action'), ({ action }) => <span title={action}>{nameOf(action)}</span>),
    column('subject', t('audit.subject'), ({ subject }) => (
      <TextLink to="/admin/audit-log" search={{ subject }} size="sm" className="model-name">
        <AuditSubject subject={subject} />
      </TextLink>
    )),
    personColumn('actor', t('audit.actor')),
    offPhone(column('changes', t('audit.changes'), (entry) => longText(firstChanges(entry)))),
    menuColumn(({ action, subject, actor, accountId }) => [
      { copy: subject },
      { only: { action }, what: nameOf(action) },
      { only: { actor }, what: t('audit.thisActor') },
      ...(accountId === null ? [] : [{ only: { accountId } }]),
    ]),
  ];
}

function firstChanges({ before, after }: Shape<'AuditEntry'>): string {
  const first = changesBetween(before, after).slice(0, 2);
  return first.map(({ path, after: now }) => `${path.at(-1) ?? ''}: ${now ?? NONE}`).join(', ');
}

function Details({ entry }: { entry: Shape<'AuditEntry'> }) {
  const { t } = useTranslation('admin');
  const { action, subject, actor, accountId, recordedAt, requestId, before, after } = entry;
  const changes = changesBetween(before, after);
  return (
    <Stack>
      <Text className="model-name">{`${action} · ${subject}`}</Text>
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

function dotted(path: readonly string[]): string {
  return path.join('.');
}

function Changes({ changes }: { changes: readonly FieldChange[] }) {
  const { t } = useTranslation('admin');
  const columns: ListColumn<FieldChange>[] = [
    column('path', t('audit.field'), ({ path }) => longText(dotted(path))),
    column('before', t('audit.before'), ({ before }) => longText(before)),
    column('after', t('audit.after'), ({ after }) => longText(after)),
  ];
  const label = t('audit.changes');
  return (
    <PlainTable
      label={label}
      columns={columns}
      rows={changes}
      rowKey={({ path }) => dotted(path)}
      layout="fixed"
    />
  );
}

const NAMED = ['account', 'user', 'key'] as const;
/** Ids begin with the time, so their ends tell them apart. */
const SHOWN_CHARS = 8;

/** Shows the subject's name if it has one, otherwise its kind and the end of its id. */
function AuditSubject({ subject }: { subject: string }) {
  const [, word = '', id = ''] = /^([^:]+):(.*)$/s.exec(subject) ?? [];
  const kind = NAMED.find((each) => each === word);
  if (kind && ID.test(id)) return <Named kind={kind} id={id} />;
  if (id === '') return subject;
  return (
    <span title={subject} className="one-line">
      {word} {ID.test(id) ? `…${id.slice(-SHOWN_CHARS)}` : id}
    </span>
  );
}

type Action = Shape<'AuditEntry'>['action'];

function useActions() {
  const { t } = useTranslation('admin');
  const names = Object.entries(t('audit.actions', { returnObjects: true })) as [Action, string][];
  return {
    /** A later version may know more actions. */
    nameOf: (action: Action): string => names.find(([each]) => each === action)?.[1] ?? action,
    options: names.map(([value, label]) => ({ value, label })),
    /** Undefined if there is no such action. */
    known: (action: string | undefined) => names.find(([each]) => each === action)?.[0],
  };
}
