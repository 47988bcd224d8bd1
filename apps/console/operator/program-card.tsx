import { Card, Group, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../api/client.js';
import { column, rightColumn } from '../ui/lists/columns.js';
import { DataList, knownRows, type ListColumn } from '../ui/lists/data-list.js';
import { FactGrid } from '../ui/lists/facts.js';
import { useLocale } from '../ui/locale.js';
import { SmallPrint } from '../ui/texts.js';
import { StatusBadge } from '../ui/status-badge.js';
import { When } from '../ui/time/when.js';
import { useRate } from './program.js';

const MEGABYTE = 1024 * 1024;

export function ProgramCard({ program }: { program: Shape<'Program'> }) {
  const { t } = useTranslation('operator');
  const { instance, reportedAt, isSilent, report } = program;
  return (
    <Card withBorder component="article" aria-label={instance}>
      <Stack gap="sm">
        <Head program={program} />
        {isSilent && (
          <Text size="sm">
            {t('card.lastReport')} <When at={reportedAt} />
          </Text>
        )}
        <Vitals report={report} />
        <Paces report={report} />
        <Waiting report={report} />
      </Stack>
    </Card>
  );
}

function Head({ program: { instance, version, host, startedAt, isSilent } }: { program: Shape<'Program'> }) {
  const { t } = useTranslation('operator');
  return (
    <Group justify="space-between" align="flex-start">
      <div>
        <Text fw={600} ff="monospace" size="sm" className="model-name">
          {instance}
        </Text>
        <SmallPrint>
          {host} · {version} · {t('card.since')} <When at={startedAt} />
        </SmallPrint>
      </div>
      <StatusBadge tone={isSilent ? 'bad' : 'good'}>
        {isSilent ? t('card.silent') : t('card.alive')}
      </StatusBadge>
    </Group>
  );
}

function Vitals({ report }: { report: Shape<'Program'>['report'] }) {
  const { t } = useTranslation('operator');
  const locale = useLocale();
  const count = (value: number | null | undefined) => value?.toLocaleString(locale) ?? null;
  const short = { maximumFractionDigits: 1 };
  const seconds = (value: number | null | undefined) =>
    value == null ? null : t('seconds', { value: value.toLocaleString(locale, short) });
  const megabytes = Math.round(report.memoryBytes / MEGABYTE);
  const facts = [
    { name: t('vitals.inFlight'), value: count(report.requests?.inFlight) },
    { name: t('vitals.undeliverable'), value: count(report.undeliverable) },
    { name: t('vitals.following'), value: count(report.following) },
    { name: t('vitals.oldestDue'), value: seconds(report.oldestDueSeconds) },
    { name: t('vitals.swept'), value: count(report.swept) },
    { name: t('vitals.repairs'), value: count(report.repairs) },
    { name: t('vitals.holdsSwept'), value: count(report.holdsSwept) },
    { name: t('vitals.lateSuccesses'), value: count(report.lateSuccesses) },
    { name: t('vitals.outbox'), value: count(report.outbox?.rows) },
    { name: t('vitals.outboxAge'), value: seconds(report.outbox?.oldestSeconds) },
    { name: t('vitals.memory'), value: `${megabytes.toLocaleString(locale)} MB` },
  ];
  return <FactGrid cols={{ base: 2, xs: 3 }} facts={facts} />;
}

interface Went {
  name: 'requests' | 'polls' | 'messages';
  pace: Shape<'ProgramPace'>;
}

/** Requests, task polls and bus messages of the last minute. */
function Paces({ report: { requests, polls, messages } }: { report: Shape<'Program'>['report'] }) {
  const { t } = useTranslation('operator');
  const rows: Went[] = [
    ...(requests ? [{ name: 'requests' as const, pace: requests }] : []),
    ...(polls ? [{ name: 'polls' as const, pace: polls }] : []),
    { name: 'messages', pace: messages },
  ];
  return (
    <DataList
      label={t('card.minute')}
      query={knownRows(rows)}
      columns={useColumns()}
      rowKey="name"
      empty={{ title: t('card.minute'), hint: t('card.noLag') }}
    />
  );
}

function useColumns(): ListColumn<Went>[] {
  const { t } = useTranslation('operator');
  const locale = useLocale();
  const rate = useRate();
  const ms = (value: number | null) => (value === null ? '–' : `${Math.round(value)}\u00a0ms`);
  return [
    column('what', t('card.minute'), ({ name }) => t(`card.${name}`)),
    rightColumn('rate', t('card.rate'), ({ pace }) => rate(pace.perSecond)),
    rightColumn('p50', 'p50', ({ pace }) => ms(pace.p50Ms)),
    rightColumn('p99', 'p99', ({ pace }) => ms(pace.p99Ms)),
    column('outcomes', t('card.outcomes'), ({ pace }) => outcomesOf(pace, locale)),
  ];
}

function outcomesOf({ outcomes }: Shape<'ProgramPace'>, locale: string): string {
  const counted = Object.entries(outcomes).filter(([, count]) => count > 0);
  return counted.map(([name, count]) => `${name} ${count.toLocaleString(locale)}`).join(' · ') || '–';
}

function Waiting({ report: { lag } }: { report: Shape<'Program'>['report'] }) {
  const { t } = useTranslation('operator');
  const locale = useLocale();
  const waiting = lag.filter(({ messages }) => messages > 0);
  return (
    <Text size="sm">
      {t('card.lag')}{' '}
      {waiting.map(({ topic, messages }) => `${topic} ${messages.toLocaleString(locale)}`).join(' · ') ||
        t('card.noLag')}
    </Text>
  );
}
