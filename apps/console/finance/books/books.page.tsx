import { IconRefresh } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { $api, api } from '../../api/client.js';
import { refresh } from '../../api/queries.js';
import type { Shape } from '../../api/shape.js';
import { notify } from '../../shell/notices.js';
import { column, onPhone, rightColumn, timeColumn } from '../../ui/lists/columns.js';
import { DataList, knownRows, type ListColumn } from '../../ui/lists/data-list.js';
import { Figure, Figures } from '../../ui/lists/facts.js';
import { ACTIONS, NONE } from '../../ui/lists/phone-row.js';
import { TextLink } from '../../ui/links.js';
import { PageFrame } from '../../ui/page.js';
import { Loaded, Section } from '../../ui/states.js';
import { SmallPrint } from '../../ui/texts.js';
import { ControlHeat } from './control-heat.js';
import { ControlLight, useControlFault, useControlWords } from './control-words.js';
import { controlGroups, namedControl } from './controls.js';
import { Progress } from './progress.js';
import { ActionButton } from '../../ui/action-button.js';

const LOOK_AGAIN_MS = 20_000;

/** Whether the books agree: each control as a light, and up to when everything is posted. */
export function BooksPage() {
  const { t } = useTranslation('finance');
  const controls = $api.useQuery('get', '/api/finance/controls', {}, { refetchInterval: LOOK_AGAIN_MS });
  const columns = useColumns();
  return (
    <PageFrame title={t('books.title')} about={t('books.about')} actions={<RunControls />}>
      <Loaded query={controls} lines={14}>
        {({ items }) => (
          <>
            <Summary controls={items} />
            {groupsOf(items).map(({ name, controls: members }) => (
              <Section key={name} title={t(`books.groups.${name}`)}>
                <div className="even-columns">
                  <DataList
                    label={t(`books.groups.${name}`)}
                    query={knownRows(members)}
                    columns={columns}
                    rowKey={({ id }) => id}
                    empty={{ title: t('controls.unknown'), hint: t('controls.unknownHint') }}
                  />
                </div>
              </Section>
            ))}
          </>
        )}
      </Loaded>
      <Progress />
    </PageFrame>
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
  const green = sum(({ state }) => (state === 'green' ? 1 : 0));
  return (
    <Figures>
      <Figure
        name={t('books.green')}
        value={t('books.greenOf', { green, all: controls.length })}
        hint={t('books.greenHint')}
      />
      <Figure
        name={t('books.open')}
        value={sum(({ openFindings }) => openFindings)}
        hint={t('books.openHint')}
      />
      <Figure
        name={t('books.unread')}
        value={sum(({ unacknowledged }) => unacknowledged)}
        hint={t('books.unreadHint')}
      />
      <Figure
        name={t('books.failed')}
        value={sum(({ state }) => (state === 'error' ? 1 : 0))}
        hint={t('books.failedHint')}
      />
    </Figures>
  );
}

function useColumns(): ListColumn<Shape<'ControlStanding'>>[] {
  const { t } = useTranslation('finance');
  const { titleOf } = useControlWords();
  const faultOf = useControlFault();
  return [
    column('control', t('controls.one'), (control) => (
      <>
        <TextLink
          to="/finance/controls/$controlId"
          params={{ controlId: control.id }}
          size="sm"
          className="model-name"
        >
          {titleOf(control)}
        </TextLink>
        {faultOf(control) !== null && <SmallPrint>{faultOf(control)}</SmallPrint>}
      </>
    )),
    onPhone(
      'side',
      column('state', t('books.state'), (control) => <ControlLight control={control} />),
    ),
    column('days', t('books.days'), ({ id }) => <ControlHeat controlId={id} />),
    onPhone(
      'below',
      rightColumn('unread', t('books.unread'), ({ unacknowledged }) =>
        unacknowledged === 0 ? NONE : unacknowledged,
      ),
    ),
    timeColumn('lastRunAt', t('books.lastRun'), t('books.neverRun')),
    rightColumn(ACTIONS, t('books.run'), (control) => <RunControls control={control} />),
  ];
}

/** Runs one control, or all but those that read the whole ledger, which the schedule runs once a day. */
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
