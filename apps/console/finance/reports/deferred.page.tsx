import { Group, Paper, SimpleGrid, Table, Text } from '@mantine/core';
import { useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { type Shape, useShown } from '../../api/client.js';
import { Toolbar } from '../../ui/lists/toolbar.js';
import { CsvLink } from '../../ui/lists/csv-link.js';
import { useFilter } from '../../ui/address.js';
import { DayRange } from '../../ui/forms/day-range.js';
import { Fact, Facts } from '../../ui/lists/facts.js';
import { ButtonLink } from '../../ui/links.js';
import { Money } from '../../ui/money.js';
import { PageFrame, Section } from '../../ui/page.js';
import { Loaded } from '../../ui/states.js';
import { SmallPrint } from '../../ui/texts.js';
import { StatusBadge } from '../../ui/status-badge.js';
import { Day, SmallWhen } from '../../ui/time/when.js';
import { addDays, type DaySpan, daysUntil, monthOf, today, lastMonth } from '../utc-days.js';
import { FamilyName } from './family-name.js';

/** Deferred revenue from its opening to its closing balance, compared with the credit lots. */
export default function DeferredPage() {
  const { t } = useTranslation('reports');
  const search = useSearch({ from: '/finance/deferred-revenue' });
  const days = { from: search.from ?? monthOf(today()), to: search.to ?? today() };
  const report = useShown('/api/finance/reports/deferred-revenue', { query: daysUntil(days) });
  return (
    <PageFrame title={t('deferred.title')} about={t('deferred.about')}>
      <Toolbar aside={<CsvLink path="/api/finance/reports/deferred-revenue.csv" query={daysUntil(days)} />}>
        <DayRange from={days.from} to={days.to} set={useFilter()} />
        <ButtonLink to="/finance/deferred-revenue" search={lastMonth()} variant="default">
          {t('revenue.lastMonth')}
        </ButtonLink>
        <SmallPrint>{t('utc', { ns: 'finance' })}</SmallPrint>
      </Toolbar>
      <Loaded query={report} lines={12}>
        {(found) => <Report report={found} days={days} />}
      </Loaded>
    </PageFrame>
  );
}

function Report({ report, days }: { report: Shape<'DeferredRevenue'>; days: Required<DaySpan> }) {
  const { t } = useTranslation('reports');
  const lots = (
    <ButtonLink to="/finance/deferred-revenue/lots" search={{ to: days.to }} variant="default" size="xs">
      {t('lots.each')}
    </ButtonLink>
  );
  return (
    <>
      <Certainty report={report} />
      <SimpleGrid cols={{ base: 1, lg: 2 }}>
        <Section title={t('deferred.roll')} aside={<EntriesLink id={report.ledgerAccountId} days={days} />}>
          <RollForward report={report} />
        </Section>
        <Section title={t('deferred.lots')} aside={lots}>
          <Lots report={report} />
        </Section>
      </SimpleGrid>
    </>
  );
}

function EntriesLink({ id, days }: { id: string; days: Required<DaySpan> }) {
  const { t } = useTranslation('reports');
  return (
    <ButtonLink
      to="/finance/ledger-accounts/$ledgerAccountId"
      params={{ ledgerAccountId: id }}
      search={days}
      variant="default"
      size="xs"
    >
      {t('deferred.entries')}
    </ButtonLink>
  );
}

/** Whether ledger and lots agree, and up to when everything is posted. */
function Certainty({ report: { agrees, completeTo, recognisedTo } }: { report: Shape<'DeferredRevenue'> }) {
  const { t } = useTranslation('reports');
  return (
    <Group gap="sm">
      <StatusBadge tone={agrees ? 'good' : 'bad'}>
        {t(agrees ? 'deferred.agrees' : 'deferred.differs')}
      </StatusBadge>
      <SmallWhen label={t('revenue.completeTo')} at={completeTo} />
      <SmallWhen label={t('deferred.recognisedTo')} at={recognisedTo} />
    </Group>
  );
}

function RollForward({ report }: { report: Shape<'DeferredRevenue'> }) {
  const { t } = useTranslation('reports');
  const { from, to, opening, lines, closing, currency } = report;
  return (
    <Paper withBorder>
      <Table aria-label={t('deferred.roll')} verticalSpacing="xs">
        <Table.Tbody>
          <End name={t('deferred.opening')} day={from} balance={opening} currency={currency} />
          {lines.map((line) => (
            <Move key={`${line.move} ${line.family ?? ''}`} line={line} currency={currency} />
          ))}
          <End name={t('deferred.closing')} day={addDays(to, -1)} balance={closing} currency={currency} />
        </Table.Tbody>
      </Table>
    </Paper>
  );
}

interface EndProps {
  name: string;
  day: string;
  balance: string;
  currency: string;
}

function End({ name, day, balance, currency }: EndProps) {
  return (
    <Table.Tr>
      <Table.Th scope="row">
        {name} <Day on={day} />
      </Table.Th>
      <Table.Td ta="right" fw={600}>
        <Money value={balance} currency={currency} />
      </Table.Td>
    </Table.Tr>
  );
}

interface MoveProps {
  line: Shape<'DeferredRevenue'>['lines'][number];
  currency: string;
}

function Move({ line: { move, family, amount, transactions }, currency }: MoveProps) {
  const { t } = useTranslation('reports');
  return (
    <Table.Tr>
      <Table.Td>
        {t(`deferred.moves.${move}`)}
        {family !== null && (
          <>
            {' · '}
            <FamilyName family={family} />
          </>
        )}{' '}
        <Text span size="xs" c="dimmed">
          {t('deferred.transactions', { count: Number(transactions) })}
        </Text>
      </Table.Td>
      <Table.Td ta="right">
        <Money value={amount} currency={currency} signed />
      </Table.Td>
    </Table.Tr>
  );
}

function Lots({ report: { lots, currency } }: { report: Shape<'DeferredRevenue'> }) {
  const { t } = useTranslation('reports');
  return (
    <Paper withBorder p="xs">
      <Facts label={t('deferred.lots')}>
        <Fact name={t('deferred.paid')} value={<Money value={lots.paid} currency={currency} />} />
        <Fact name={t('deferred.recognised')} value={<Money value={lots.recognised} currency={currency} />} />
        <Fact
          name={t('deferred.pendingRefunds')}
          value={<Money value={lots.pendingRefunds} currency={currency} />}
        />
        <Fact name={t('deferred.deferred')} value={<Money value={lots.deferred} currency={currency} />} />
        <Fact name={t('deferred.unusedCredits')} value={<Money value={lots.unusedCredits} />} />
      </Facts>
    </Paper>
  );
}
