import { IconRefresh } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { api, refresh, type Shape, useRead } from '../../api/client.js';
import { notify } from '../../shell/notices.js';
import { column, onPhone, rightColumn, timeColumn } from '../../ui/lists/columns.js';
import { DataList, knownRows, type ListColumn } from '../../ui/lists/data-list.js';
import { Figure, Figures } from '../../ui/lists/facts.js';
import { ACTIONS, NONE } from '../../ui/lists/phone-row.js';
import { PageFrame, Section } from '../../ui/page.js';
import { Loaded } from '../../ui/states.js';
import { SmallPrint } from '../../ui/texts.js';
import { ControlHeat } from './control-heat.js';
import { ControlLight, ControlLink, useControlFault, useControlWords } from './control-words.js';
import { controlGroups, namedControl } from './controls.js';
import { Progress } from './progress.js';
import { ActionButton } from '../../ui/action-button.js';

const LOOK_AGAIN_MS = 20_000;

/** All controls with their results, and up to when everything is posted. */
export default function BooksPage() {
  const { t } = useTranslation('finance');
  const controls = useRead('/api/finance/controls', {}, { refetchInterval: LOOK_AGAIN_MS });
  return (
    <PageFrame title={t('books.title')} about={t('books.about')} actions={<RunControls />}>
      <Loaded query={controls} lines={14}>
        {({ items }) => (
          <>
            <Summary controls={items} />
            {groupsOf(items).map((group) => (
              <ControlGroup key={group.name} {...group} />
            ))}
          </>
        )}
      </Loaded>
      <Progress />
    </PageFrame>
  );
}

function ControlGroup({ name, controls }: ReturnType<typeof groupsOf>[number]) {
  const { t } = useTranslation('finance');
  const title = t(`books.groups.${name}`);
  return (
    <Section title={title}>
      <div className="even-columns">
        <DataList query={knownRows(controls)} columns={useColumns()} empty={t('controls.unknown')} />
      </div>
    </Section>
  );
}

function groupsOf(controls: readonly Shape<'ControlStanding'>[]) {
  const groups = controlGroups.map(({ name, controls: ids }) => ({
    name,
    controls: controls.filter(({ id }) => ids.some((each) => each === id)),
  }));
  const others = controls.filter(({ id }) => namedControl(id) === undefined);
  return others.length === 0 ? groups : [...groups, { name: 'others' as const, controls: others }];
}

function Summary({ controls }: { controls: readonly Shape<'ControlStanding'>[] }) {
  const { t } = useTranslation('finance');
  const sum = (countOf: (control: Shape<'ControlStanding'>) => number) =>
    controls.reduce((total, control) => total + countOf(control), 0);
  const all = controls.length;
  const green = sum(({ state }) => (state === 'green' ? 1 : 0));
  const open = sum(({ openFindings }) => openFindings);
  const unread = sum(({ unacknowledged }) => unacknowledged);
  const failed = sum(({ state }) => (state === 'error' ? 1 : 0));
  return (
    <Figures>
      <Figure
        name={t('books.green')}
        value={t('books.greenOf', { green, all })}
        hint={t('books.greenHint')}
      />
      <Figure name={t('books.open')} value={open} hint={t('books.openHint')} />
      <Figure name={t('books.unread')} value={unread} hint={t('books.unreadHint')} />
      <Figure name={t('books.failed')} value={failed} hint={t('books.failedHint')} />
    </Figures>
  );
}

function useColumns(): ListColumn<Shape<'ControlStanding'>>[] {
  const { t } = useTranslation('finance');
  return [
    column('control', t('controls.one'), (control) => <ControlName control={control} />),
    onPhone(
      'side',
      column('state', t('books.state'), (control) => <ControlLight control={control} />),
    ),
    column('days', t('books.days'), ({ id }) => <ControlHeat controlId={id} />),
    onPhone(
      'below',
      rightColumn('unread', t('books.unread'), ({ unacknowledged }) => unacknowledged || NONE),
    ),
    timeColumn('lastRunAt', t('books.lastRun'), t('books.neverRun')),
    rightColumn(ACTIONS, t('books.run'), (control) => <RunControls control={control} />),
  ];
}

function ControlName({ control }: { control: Shape<'ControlStanding'> }) {
  const { titleOf } = useControlWords();
  const fault = useControlFault()(control);
  return (
    <>
      <ControlLink id={control.id} size="sm" className="model-name">
        {titleOf(control)}
      </ControlLink>
      {fault !== null && <SmallPrint>{fault}</SmallPrint>}
    </>
  );
}

/** Runs one control, or all except those that read the whole ledger, which run once a day. */
export function RunControls({ control }: { control?: Shape<'ControlStanding'> }) {
  const { t } = useTranslation('finance');
  const { titleOf } = useControlWords();
  const run = async () => {
    const body = control ? { controls: [control.id] } : {};
    const { data } = await api.POST('/api/finance/controls/run', { body });
    await refresh('/api/finance/controls', '/api/finance/controls/{controlId}/findings');
    notify(t('books.ran', { count: data!.controls.length }));
  };
  return (
    <ActionButton
      act={run}
      size={control ? 'compact-xs' : 'sm'}
      leftSection={<IconRefresh size={14} aria-hidden />}
      {...(control ? { 'aria-label': t('books.runOne', { title: titleOf(control) }) } : {})}
    >
      {control ? t('books.run') : t('books.runAll')}
    </ActionButton>
  );
}
