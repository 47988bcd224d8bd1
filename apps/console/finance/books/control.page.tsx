import { Group, Stack, Text } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { type Shape, useList, useRead } from '../../api/client.js';
import { SwitchFilter, optionsOf } from '../../ui/lists/choice.js';
import { column, timeColumn } from '../../ui/lists/columns.js';
import { DataList, type ListColumn } from '../../ui/lists/data-list.js';
import { CsvLink } from '../../ui/lists/csv-link.js';
import { SidePanel } from '../../ui/forms/dialog.js';
import { BackLink, OpenLink } from '../../ui/links.js';
import { PageFrame, Section } from '../../ui/page.js';
import { EmptyState, Loaded } from '../../ui/states.js';
import { Hint, TextLine } from '../../ui/texts.js';
import { When } from '../../ui/time/when.js';
import { transactionsColumn } from '../columns.js';
import { RunControls } from './books.page.js';
import { useFindingWords } from './finding-words.js';
import { ControlLight, FindingBadge, useControlFault, useControlWords } from './control-words.js';
import { FindingDetails } from './finding-details.js';

const route = getRouteApi('/finance/controls/$controlId');
const states = ['open', 'resolved', 'all'] as const;

/** What one control compares, and what it found. */
export default function ControlPage() {
  const { t } = useTranslation('finance');
  const { controlId } = route.useParams();
  const { titleOf, explanationOf } = useControlWords();
  const controls = useRead('/api/finance/controls');
  const control = controls.data?.items.find(({ id }) => id === controlId);
  const unknown = <EmptyState {...t('controls.unknown')} />;
  return (
    <PageFrame
      title={control ? titleOf(control) : t('controls.one')}
      about={control && explanationOf(control)}
      actions={control && <RunControls control={control} />}
    >
      <BackLink to="/finance/books">{t('controls.back')}</BackLink>
      <Loaded query={controls} lines={2}>
        {() => (control ? <Standing control={control} /> : unknown)}
      </Loaded>
      <Findings controlId={controlId} />
    </PageFrame>
  );
}

function Standing({ control }: { control: Shape<'ControlStanding'> }) {
  const { t } = useTranslation('finance');
  const { lastRunAt, horizon, every } = control;
  const fault = useControlFault()(control);
  return (
    <Stack gap="tiny">
      <Group gap="sm">
        <ControlLight control={control} />
        <TextLine>
          {t(lastRunAt === null ? 'books.neverRun' : 'controls.lastRun')}{' '}
          {lastRunAt !== null && <When at={lastRunAt} />}
        </TextLine>
        {horizon !== null && (
          <Hint>
            {t('controls.horizon')} <When at={horizon} />
          </Hint>
        )}
        <Hint>{t(`controls.every.${every}`)}</Hint>
      </Group>
      {fault !== null && <Text size="sm">{fault}</Text>}
    </Stack>
  );
}

function Findings({ controlId }: { controlId: string }) {
  const { t } = useTranslation('finance');
  const { state = 'open', finding } = route.useSearch();
  const path = '/api/finance/controls/{controlId}/findings';
  const findings = useList(path, { path: { controlId }, query: { state } });
  const shown = findings.data?.items.find(({ id }) => id === finding);
  const empty = state === 'open' ? t('findings.none') : t('findings.noneSuch');
  return (
    <Section
      title={t('findings.title')}
      aside={<CsvLink path={`/api/finance/controls/${controlId}/findings.csv`} query={{ state }} />}
    >
      <StateFilter />
      <DataList query={findings} columns={useColumns()} empty={empty} />
      <SidePanel param="finding" opened={shown !== undefined} title={t('findings.one')}>
        {shown && <FindingDetails finding={shown} />}
      </SidePanel>
    </Section>
  );
}

function StateFilter() {
  const { t } = useTranslation('finance');
  return (
    <SwitchFilter
      param="state"
      label={t('findings.state')}
      options={optionsOf(states, t('findings.shown'))}
      replace={false}
    />
  );
}

function useColumns(): ListColumn<Shape<'Finding'>>[] {
  const { t } = useTranslation('finance');
  const { wordsOf } = useFindingWords();
  return [
    column('subject', t('findings.subject'), ({ id, subject }) => (
      <OpenLink param="finding" value={id} className="model-name">
        {subject}
      </OpenLink>
    )),
    column('state', t('findings.what'), (finding) => <FindingBadge finding={finding} />),
    column('message', t('findings.message'), (finding) => <Text size="sm">{wordsOf(finding)}</Text>),
    timeColumn('firstSeenAt', t('findings.since')),
    transactionsColumn('transactionIds', t('findings.transactions')),
    column('read', t('findings.read'), (finding) => <Read finding={finding} />),
  ];
}

/** Whether a finding is read or resolved. */
function Read({ finding: { resolvedAt, acknowledgedAt } }: { finding: Shape<'Finding'> }) {
  const { t } = useTranslation('finance');
  const at = resolvedAt ?? acknowledgedAt;
  if (at === null) return t('findings.unread');
  return (
    <>
      {resolvedAt !== null && `${t('findings.resolved')} `}
      <When at={at} />
    </>
  );
}
