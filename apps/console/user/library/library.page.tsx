import { Paper, SimpleGrid, Skeleton } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useShown } from '../../api/lists.js';
import { useAddressPager } from '../../ui/address.js';
import { Duration } from '../../ui/duration.js';
import { OpenPanel } from '../../ui/forms/dialog.js';
import { ButtonLink } from '../../ui/links.js';
import { SwitchFilter } from '../../ui/lists/choice.js';
import { type Listed, Pager } from '../../ui/lists/data-list.js';
import { PageFrame } from '../../ui/page.js';
import { EmptyState, ErrorState, Loaded } from '../../ui/states.js';
import { Hint } from '../../ui/texts.js';
import { TaskDetails } from '../tasks/task-details.js';
import { useLiveTasks, useTask } from '../tasks/task.js';
import { ChargeDetails } from '../usage/charge-details.js';
import { FileCard } from './file-card.js';
import { ImageCard } from './image-card.js';
import { useImageLife } from './kept-images.js';

const route = getRouteApi('/user/library');
const PAGE = 24;
const FILES = 'files';
const KINDS = ['video', '3d', 'image'] as const;
const SKELETONS = 6;
const COLUMNS = { base: 1, xs: 2, md: 3, lg: 4 };

/** What the account made lately, to look at, download and run again. */
export function LibraryPage() {
  const { t } = useTranslation('calls');
  const { kind } = route.useSearch();
  return (
    <PageFrame title={t('library.title')} about={t('library.about')}>
      <SwitchFilter
        param="kind"
        label={t('tasks.filters.kind')}
        options={[
          { value: FILES, label: t('library.files') },
          ...KINDS.map((value) => ({ value, label: t(`families.${value}`) })),
        ]}
        replace={false}
      />
      {kind === 'image' ? <Images /> : <Files kind={kind} />}
    </PageFrame>
  );
}

/** Videos and 3D assets, which are stored for a while. */
function Files({ kind }: { kind: 'video' | '3d' | undefined }) {
  const { t } = useTranslation('calls');
  const { cursor } = route.useSearch();
  const filter = { kind, state: 'completed' as const };
  useLiveTasks(filter);
  const tasks = useShown('/api/tasks', { query: { ...filter, limit: PAGE, cursor } });
  return (
    <>
      <Cards
        label={t('library.title')}
        query={tasks}
        emptyHint={t('library.emptyFiles')}
        cardOf={(task) => <FileCard key={task.id} task={task} />}
      />
      <OpenPanel param="task" title={t('task.title')}>
        {(id) => <OpenTask id={id} />}
      </OpenPanel>
    </>
  );
}

function OpenTask({ id }: { id: string }) {
  return (
    <Loaded query={useTask(id)} lines={10}>
      {(found) => <TaskDetails task={found} />}
    </Loaded>
  );
}

/** Images go to whoever asked for them. Those that were asked for as links are kept for a while; of others the request is left. */
function Images() {
  const { t } = useTranslation('calls');
  const { cursor } = route.useSearch();
  const query = { family: 'image' as const, state: 'settled' as const, limit: PAGE, cursor };
  const requests = useShown('/api/usage', { query });
  return (
    <>
      <ImagesHint />
      <Cards
        label={t('library.title')}
        query={requests}
        emptyHint={t('library.emptyImages')}
        cardOf={(entry) => <ImageCard key={entry.chargeId} entry={entry} />}
      />
      <OpenPanel param="charge" size="xl" title={t('charge.title')}>
        {(id) => <ChargeDetails id={id} />}
      </OpenPanel>
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
  const { t } = useTranslation('calls');
  const pager = useAddressPager();
  const items = query.data?.items;
  if (query.error && !items) return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  if (items?.length === 0 && pager.cursor === undefined && !query.data?.nextCursor)
    return (
      <Paper withBorder>
        <EmptyState
          title={t('library.empty')}
          hint={emptyHint}
          action={
            <ButtonLink to="/playground" variant="default">
              {t('log.toPlayground')}
            </ButtonLink>
          }
        />
      </Paper>
    );
  return (
    <>
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
