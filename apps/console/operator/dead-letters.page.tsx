import { Group, Stack, Text } from '@mantine/core';
import { useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { api, refresh, type Shape, useList, useRead } from '../api/client.js';
import { notify } from '../shell/notices.js';
import { Who } from '../shell/who.js';
import { SwitchFilter, optionsOf } from '../ui/lists/choice.js';
import { column, menuColumn, openColumn } from '../ui/lists/columns.js';
import { DataList, type ListColumn } from '../ui/lists/data-list.js';
import { ConfirmAction } from '../ui/forms/confirm-action.js';
import { CodeLines } from '../ui/copy.js';
import { PageFrame } from '../ui/page.js';
import { Loaded } from '../ui/states.js';
import { WordsField } from '../ui/lists/search-field.js';
import { Hint, Labelled, TextLine, TwoLines } from '../ui/texts.js';
import { StatusBadge } from '../ui/status-badge.js';
import { When } from '../ui/time/when.js';
import { OpenPanel } from '../ui/forms/dialog.js';
import { isNarrowed } from '../ui/search.js';
import { jsonLines } from '../ui/code/json-lines.js';
import { Toolbar } from '../ui/lists/toolbar.js';

const PAGE = 25;
const SHOWN = ['waiting', 'replayed', 'all'] as const;

/** Messages that no handler could process, and what a replay would do. */
export default function DeadLettersPage() {
  const { t } = useTranslation('operator');
  const { show, topic, about } = useSearch({ from: '/operator/dead-letters' });
  const replayed = show === 'all' ? {} : ({ replayed: show === 'replayed' ? 'true' : 'false' } as const);
  const letters = useList('/api/admin/dead-letters', { query: { limit: PAGE, topic, about, ...replayed } });
  const none = isNarrowed({ show, topic, about }) ? 'noMatch' : 'empty';
  return (
    <PageFrame title={t('letters.title')} about={t('letters.about')}>
      <Filters />
      <DataList
        label={t('letters.label')}
        query={letters}
        columns={useColumns()}
        empty={t(`letters.${none}`)}
      />
      <OpenPanel param="letter" title={t('letters.one')}>
        {(id) => <OpenLetter id={id} />}
      </OpenPanel>
    </PageFrame>
  );
}

function Filters() {
  const { t } = useTranslation('operator');
  return (
    <Toolbar>
      <SwitchFilter param="show" label={t('letters.state')} options={optionsOf(SHOWN, t('letters.show'))} />
      {(['topic', 'about'] as const).map((name) => (
        <WordsField
          key={name}
          aria-label={t(`letters.filters.${name}`)}
          placeholder={t(`letters.filters.${name}`)}
          param={name}
          w={{ base: '100%', xs: '16rem' }}
        />
      ))}
    </Toolbar>
  );
}

function useColumns(): ListColumn<Shape<'DeadLetter'>>[] {
  const { t } = useTranslation('operator');
  return [
    openColumn('letter', t('letters.at'), (letter) => letter),
    column('topic', t('letters.topic'), ({ topic, group }) => <TwoLines first={topic} second={group} />),
    column('about', t('letters.charge'), ({ about }) => (
      <Text size="xs" ff="monospace" className="model-name">
        {about ?? '–'}
      </Text>
    )),
    column('reason', t('letters.reason'), (letter) => <Reason letter={letter} />),
    column('state', t('letters.state'), (letter) => <State letter={letter} />),
    menuColumn(({ id, topic, about }) => [
      { copy: about ?? id },
      { only: { topic }, what: topic },
      ...(about === null ? [] : [{ only: { about }, what: about }]),
    ]),
  ];
}

/** What went wrong, and the whole error, which is in English. */
function Fault({ letter: { fault, reason } }: { letter: Shape<'DeadLetter'> }) {
  const { t } = useTranslation('operator');
  return (
    <div>
      <Text>{t(`letters.faults.${fault}`, { defaultValue: fault })}</Text>
      <Text className="spoken" lang="en">
        {reason}
      </Text>
    </div>
  );
}

/** The same, on one line each. */
function Reason({ letter: { fault, reason } }: { letter: Shape<'DeadLetter'> }) {
  const { t } = useTranslation('operator');
  return (
    <TwoLines
      first={t(`letters.faults.${fault}`, { defaultValue: fault })}
      second={
        <span lang="en" className="model-name">
          {reason}
        </span>
      }
    />
  );
}

function State({ letter: { canReplay, replayedAt } }: { letter: Shape<'DeadLetter'> }) {
  const { t } = useTranslation('operator');
  if (replayedAt !== null) return <StatusBadge tone="good">{t('letters.replayed')}</StatusBadge>;
  return canReplay ? (
    <StatusBadge tone="waiting">{t('letters.waiting')}</StatusBadge>
  ) : (
    <StatusBadge tone="quiet">{t('letters.never')}</StatusBadge>
  );
}

function OpenLetter({ id }: { id: string }) {
  const letter = useRead('/api/admin/dead-letters/{letterId}', { path: { letterId: id } });
  return (
    <Loaded query={letter} lines={8}>
      {(found) => <Details letter={found} />}
    </Loaded>
  );
}

function Details({ letter }: { letter: Shape<'WholeDeadLetter'> }) {
  const { t } = useTranslation('operator');
  const { topic, group, partition, offset, canReplay, payload } = letter;
  return (
    <Stack>
      <Group>
        <Text fw={600}>{topic}</Text>
        <State letter={letter} />
      </Group>
      <Hint>{t('letters.place', { group, partition, offset })}</Hint>
      <Fault letter={letter} />
      <Replayed letter={letter} />
      {payload !== null && <CodeLines code={jsonLines(payload)} label={t('letters.message')} />}
      {canReplay && <Replay letter={letter} />}
    </Stack>
  );
}

/** Who replayed it, or what a replay would do. */
function Replayed({ letter }: { letter: Shape<'WholeDeadLetter'> }) {
  const { t } = useTranslation('operator');
  const { canReplay, replayedAt, replayedBy } = letter;
  if (replayedAt === null)
    return (
      <Text size="sm">
        {canReplay && `${t('letters.effect')} `}
        <Effect letter={letter} />
      </Text>
    );
  return (
    <TextLine>
      <Labelled label={t('letters.replayed')}>
        {replayedBy !== null && <Who actor={replayedBy} />} · <When at={replayedAt} />
      </Labelled>
    </TextLine>
  );
}

function Replay({ letter }: { letter: Shape<'WholeDeadLetter'> }) {
  const { t } = useTranslation('operator');
  const replay = async () => {
    const params = { path: { letterId: letter.id } };
    await api.POST('/api/admin/dead-letters/{letterId}/replays', { params });
    notify(t('letters.played'));
    await refresh('/api/admin/dead-letters', '/api/admin/dead-letters/{letterId}', '/api/admin/programs');
  };
  return (
    <ConfirmAction texts={t('letters.replay')} isDangerous={false} w="fit-content" act={replay}>
      <Stack gap="xs">
        <Text>
          <Effect letter={letter} />
        </Text>
        <Text size="sm">{t('letters.replayHint')}</Text>
      </Stack>
    </ConfirmAction>
  );
}

/** Of a replay, or why there can be none. */
function Effect({ letter: { topic, obstacle, effect } }: { letter: Shape<'WholeDeadLetter'> }) {
  const { t } = useTranslation('operator');
  if (obstacle !== null) return t(`letters.obstacles.${obstacle}`, { defaultValue: effect });
  const isEnd = topic === 'charge.resolved' || topic === 'video.completed';
  return t(`letters.effects.${isEnd ? 'ends' : 'again'}`);
}
