import { Group, Loader, Stack, Text } from '@mantine/core';
import { useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { type GetAnswer, type Item, useList, useRead } from '../../api/client.js';
import { Who } from '../../shell/who.js';
import { codeColumn, column, timeColumn } from '../../ui/lists/columns.js';
import { DataList, type ListColumn } from '../../ui/lists/data-list.js';
import { CsvLink } from '../../ui/lists/csv-link.js';
import { Fact, Facts } from '../../ui/lists/facts.js';
import { Identifier } from '../../ui/texts.js';
import { Notice } from '../../ui/notice.js';
import { BackLink, ButtonLink } from '../../ui/links.js';
import { PageFrame, Section } from '../../ui/page.js';
import { Loaded } from '../../ui/states.js';
import { PartTabs } from '../../ui/lists/part-tabs.js';
import { When } from '../../ui/time/when.js';
import { BalanceLines } from '../books/balance-lines.js';
import { transactionColumn } from '../columns.js';
import { KindOfPosting } from '../kinds.js';
import { ServerWords } from '../server-words.js';
import { Checklist } from './checklist.js';
import { useItemTitle } from './item-title.js';
import { useNoteWords } from './note-words.js';
import { PeriodBadge, PeriodSpan } from './period-state.js';

const LOOK_AGAIN_MS = 1_000;

type Shown = GetAnswer<'/api/finance/periods/{periodId}'>;
type Late = Item<'/api/finance/periods/{periodId}/late-postings'>;

/** A closed or attempted period, with its checklist, its balances, and late postings. */
export default function PeriodPage() {
  const { t } = useTranslation('periods');
  const { periodId } = useParams({ from: '/finance/periods/$periodId' });
  const period = useRead(
    '/api/finance/periods/{periodId}',
    { path: { periodId } },
    { refetchInterval: ({ state }) => (state.data?.state === 'closing' ? LOOK_AGAIN_MS : false) },
  );
  return (
    <PageFrame title={`${t('one.title')} ${periodId}`}>
      <BackLink to="/finance/periods">{t('one.back')}</BackLink>
      <Loaded query={period} lines={12}>
        {(found) => (
          <>
            <Outcome period={found} />
            <Head period={found} />
            <Parts period={found} />
          </>
        )}
      </Loaded>
    </PageFrame>
  );
}

function Parts({ period }: { period: Shown }) {
  const { t } = useTranslation('periods');
  const checklist = (
    <Stack>
      <Waivers period={period} />
      <Checklist items={period.checklist} />
    </Stack>
  );
  const names = {
    checklist: t('checklist.title'),
    balances: t('one.balances'),
    late: t('one.late', { count: period.latePostings }),
  };
  const parts = {
    checklist,
    balances: <Balances period={period} />,
    late: <LatePostings periodId={period.id} />,
  };
  return <PartTabs label={t('one.title')} names={names} parts={parts} />;
}

function Outcome({ period }: { period: Shown }) {
  const { t } = useTranslation('periods');
  const wordsOf = useNoteWords();
  const { state, progress } = period;
  if (state === 'abandoned') return <Abandoned period={period} />;
  if (state === 'closed')
    return (
      <Notice tone="good" title={t('one.closed')} role="status">
        {t('one.closedHint')}
      </Notice>
    );
  return (
    <Notice tone="quiet" title={t('one.closing')} role="status">
      <Group gap="sm">
        <Loader size="sm" />
        <Text size="sm">{progress === null ? t('one.closingHint') : wordsOf(progress)}</Text>
      </Group>
    </Notice>
  );
}

function Abandoned({ period: { abandonedNote, abandonedReason, endsAt } }: { period: Shown }) {
  const { t } = useTranslation('periods');
  const wordsOf = useNoteWords();
  const end = endsAt.slice(0, 10);
  return (
    <Notice tone="warning" title={t('one.abandoned')} role="status">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">
          {abandonedNote === null ? <ServerWords>{abandonedReason}</ServerWords> : wordsOf(abandonedNote)}
        </Text>
        <ButtonLink to="/finance/periods/close" search={{ end }} size="xs" variant="default">
          {t('one.tryAgain')}
        </ButtonLink>
      </Stack>
    </Notice>
  );
}

function Head({ period }: { period: Shown }) {
  const { t } = useTranslation('periods');
  const { state, recordedBefore, balancesHash, closedBy, begunAt, endedAt, note } = period;
  const by = (
    <>
      <Who actor={closedBy} /> · <When at={endedAt ?? begunAt} />
    </>
  );
  return (
    <Facts label={t('one.title')}>
      <Fact name={t('period')} value={<PeriodSpan period={period} />} />
      <Fact name={t('state')} value={<PeriodBadge state={state} />} />
      <Fact name={t('one.by')} value={by} />
      {recordedBefore !== null && (
        <Fact name={t('one.recordedBefore')} value={<When at={recordedBefore} />} />
      )}
      {balancesHash !== null && <Fact name={t('one.hash')} value={<Identifier>{balancesHash}</Identifier>} />}
      <Fact name={t('closing.note')} value={note} />
    </Facts>
  );
}

/** Checklist items that were waived, why, and by whom. */
function Waivers({ period: { waivers, checklist } }: { period: Shown }) {
  const { t } = useTranslation('periods');
  const titleOf = useItemTitle();
  if (waivers.length === 0) return null;
  return (
    <Facts label={t('one.waivers')}>
      {waivers.map(({ item, reason, requestedBy, approvedBy }) => {
        const known = checklist.find(({ id }) => id === item);
        return (
          <Fact
            key={item}
            name={t('one.waived', { item: known ? titleOf(known) : item })}
            value={
              <>
                {reason} {requestedBy !== null && <Who actor={requestedBy} />}{' '}
                {approvedBy !== null && <Who actor={approvedBy} />}
              </>
            }
          />
        );
      })}
    </Facts>
  );
}

function Balances({ period: { id, balances, state } }: { period: Shown }) {
  const { t } = useTranslation('periods');
  if (state !== 'closed') return <Text size="sm">{t('one.noBalances')}</Text>;
  const groups = Map.groupBy(balances, ({ commodity, unit }) => `${commodity} ${unit}`);
  return (
    <Stack>
      <Group justify="space-between">
        <Text size="sm">{t('one.balancesHint')}</Text>
        <CsvLink path={`/api/finance/periods/${id}/trial-balance.csv`} />
      </Group>
      {[...groups].map(([key, members]) => (
        <Section key={key} title={key}>
          <BalanceLines label={key} balances={members} withCustomers={false} withZero={false} />
        </Section>
      ))}
    </Stack>
  );
}

function LatePostings({ periodId }: { periodId: string }) {
  const { t } = useTranslation('periods');
  const late = useList('/api/finance/periods/{periodId}/late-postings', { path: { periodId } });
  const columns: ListColumn<Late>[] = [
    transactionColumn('transactionId', t('lateList.transaction')),
    column('kind', t('lateList.kind'), ({ kind }) => <KindOfPosting kind={kind} />),
    codeColumn('reference', t('lateList.reference')),
    timeColumn('happenedAt', t('lateList.happenedAt')),
    timeColumn('recordedAt', t('lateList.recordedAt')),
  ];
  return <DataList texts={t('lateList.list')} query={late} columns={columns} rowKey="transactionId" />;
}
