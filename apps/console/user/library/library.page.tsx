import { Group, Paper, SimpleGrid, Skeleton } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { type Shape, useShown } from '../../api/client.js';
import { useAddressPager } from '../../ui/address.js';
import { Duration } from '../../ui/time/duration.js';
import { ButtonLink, DownloadButton } from '../../ui/links.js';
import { SwitchFilter, optionsOf } from '../../ui/lists/choice.js';
import { type Listed, Pager } from '../../ui/lists/data-list.js';
import { PageFrame } from '../../ui/page.js';
import { EmptyState, ErrorState } from '../../ui/states.js';
import { stringifySearch } from '../../ui/search.js';
import { Hint, SmallPrint } from '../../ui/texts.js';
import { TaskPanel } from '../tasks/task-details.js';
import { useLiveTasks } from '../tasks/task.js';
import { ChargePanel } from '../usage/charge-details.js';
import { FileCard } from './file-card.js';
import { ImageCard } from './image-card.js';
import { useImageLife } from './kept-images.js';

const route = getRouteApi('/user/library');
const PAGE = 24;
const ALL = 'all';
const KINDS = ['image', 'video', '3d'] as const;
const SKELETONS = 6;
const COLUMNS = { base: 1, xs: 2, md: 3, lg: 4 };

export default function LibraryPage() {
  const { t } = useTranslation('calls');
  const { kind } = route.useSearch();
  return (
    <PageFrame title={t('library.title')} about={t('library.about')}>
      <SwitchFilter
        param="kind"
        label={t('tasks.filters.kind')}
        options={[{ value: ALL, label: t('library.all') }, ...optionsOf(KINDS, t('families'))]}
        replace={false}
      />
      {kind === undefined ? <Everything /> : kind === 'image' ? <Images /> : <Files kind={kind} />}
      <TaskPanel />
      <ChargePanel />
    </PageFrame>
  );
}

const ofFiles = { state: 'completed' as const, limit: PAGE };
const ofImages = { family: 'image' as const, state: 'settled' as const, limit: PAGE };

/** Only the newest, since they come from two lists. Older ones are found by type. */
function Everything() {
  const { t } = useTranslation('calls');
  useLiveTasks({ state: 'completed' });
  const files = useShown('/api/tasks', { query: ofFiles });
  const images = useShown('/api/usage', { query: ofImages });
  const made = newestOf(files.data?.items, images.data?.items);
  const isLonger = [files, images].some(({ data }) => data?.nextCursor) || (made && made.length > PAGE);
  return (
    <>
      <ImagesHint />
      <Cards
        label={t('library.title')}
        query={{
          data: made && { items: made.slice(0, PAGE) },
          error: files.error ?? images.error,
          refetch: () => Promise.all([files.refetch(), images.refetch()]),
        }}
        emptyHint={t('library.emptyAll')}
        cardOf={({ card }) => card}
      />
      {isLonger && <Hint>{t('library.older')}</Hint>}
    </>
  );
}

function newestOf(files?: readonly Shape<'Task'>[], images?: readonly Shape<'UsageEntry'>[]) {
  if (!files || !images) return undefined;
  return [
    ...files.map((task) => ({ at: task.createdAt, card: <FileCard key={task.id} task={task} /> })),
    ...images.map((entry) => ({ at: entry.at, card: <ImageCard key={entry.chargeId} entry={entry} /> })),
  ].toSorted((one, other) => Date.parse(other.at) - Date.parse(one.at));
}

function Files({ kind }: { kind: 'video' | '3d' }) {
  const { t } = useTranslation('calls');
  const { cursor } = route.useSearch();
  useLiveTasks({ kind, state: 'completed' });
  const tasks = useShown('/api/tasks', { query: { ...ofFiles, kind, cursor } });
  return (
    <Cards
      label={t('library.title')}
      query={tasks}
      emptyHint={t('library.emptyFiles')}
      cardOf={(task) => <FileCard key={task.id} task={task} />}
    />
  );
}

/** Only images requested as links are kept for a while. For others, only the request is left. */
function Images() {
  const { t } = useTranslation('calls');
  const { cursor } = route.useSearch();
  const requests = useShown('/api/usage', { query: { ...ofImages, cursor } });
  return (
    <>
      <ImagesHint />
      <Cards
        label={t('library.title')}
        query={requests}
        emptyHint={t('library.emptyImages')}
        cardOf={(entry) => <ImageCard key={entry.chargeId} entry={entry} />}
      />
    </>
  );
}

function ImagesHint() {
  const { t } = useTranslation('calls');
  const seconds = useImageLife();
  return (
    <Hint>
      {seconds !== null && (
        <div>
          {t('library.linksKept')} <Duration seconds={seconds} />
        </div>
      )}
      {t('library.imagesHint')}
    </Hint>
  );
}

interface CardsProps<Item> {
  label: string;
  query: Listed<Item>;
  /** What appears where nothing is yet. */
  emptyHint: string;
  cardOf: (item: Item) => ReactNode;
}

function Cards<Item>({ label, query, emptyHint, cardOf }: CardsProps<Item>) {
  const pager = useAddressPager();
  const items = query.data?.items;
  if (query.error && !items) return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  if (items?.length === 0 && pager.cursor === undefined && !query.data?.nextCursor)
    return <Nothing hint={emptyHint} />;
  return (
    <>
      {items && items.length > 0 && <DownloadAll />}
      <SimpleGrid
        component="ul"
        className="plain-list"
        cols={COLUMNS}
        aria-label={label}
        aria-busy={!items || query.isPlaceholderData === true}
      >
        {items?.map(cardOf) ??
          Array.from({ length: SKELETONS }, (_, card) => <Skeleton key={card} component="li" height={240} />)}
      </SimpleGrid>
      <Pager {...pager} next={query.data?.nextCursor ?? null} />
    </>
  );
}

/** Of the type that is shown, on whichever page of the list. */
function DownloadAll() {
  const { t, i18n } = useTranslation('calls');
  const { kind } = route.useSearch();
  return (
    <Group gap="sm">
      <DownloadButton href={`/api/library${stringifySearch({ kind, language: i18n.language })}`} size="xs">
        {t('library.downloadAll')}
      </DownloadButton>
      <SmallPrint>{t('library.downloadHint')}</SmallPrint>
    </Group>
  );
}

function Nothing({ hint }: { hint: string }) {
  const { t } = useTranslation('calls');
  return (
    <Paper withBorder>
      <EmptyState
        title={t('library.empty')}
        hint={hint}
        action={
          <ButtonLink to="/playground" variant="default">
            {t('log.toPlayground')}
          </ButtonLink>
        }
      />
    </Paper>
  );
}
