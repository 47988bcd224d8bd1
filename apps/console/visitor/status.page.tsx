import { Card, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { type Shape, useRead } from '../api/client.js';
import { Hint } from '../ui/texts.js';
import { Notice } from '../ui/notice.js';
import { StatusBadge } from '../ui/status-badge.js';
import { PageFrame, Section } from '../ui/page.js';
import { Loaded } from '../ui/states.js';
import { DayStrip, FAIR, StripLegend, useDay, useSeconds, useShare } from './market/record-days.js';

type Status = Shape<'ServiceStatus'>;
type Family = Status['families'][number];

const REFETCH_MS = 60_000;

export default function StatusPage() {
  const { t } = useTranslation('models');
  const status = useRead('/api/public/status', {}, { refetchInterval: REFETCH_MS });
  return (
    <PageFrame title={t('status.title')} about={t('status.about')} width={60}>
      <Loaded query={status} lines={12}>
        {(found) => (
          <>
            <Now status={found} />
            <Section title={t('status.types')}>
              {found.families.map((family) => (
                <FamilyCard key={family.family} family={family} />
              ))}
              <StripLegend />
            </Section>
            <Section title={t('status.incidents')}>
              <Incidents families={found.families} />
            </Section>
          </>
        )}
      </Loaded>
    </PageFrame>
  );
}

/** What people come for. */
function Now({ status: { isAnswering, families } }: { status: Status }) {
  const { t } = useTranslation('models');
  const areAllThere = families.every(({ available }) => available);
  const [tone, name] = !isAnswering
    ? (['bad', 'down'] as const)
    : areAllThere
      ? (['good', 'up'] as const)
      : (['warning', 'partly'] as const);
  return (
    <Notice tone={tone} title={t(`status.now.${name}`)}>
      {t(`status.hint.${name}`)}
    </Notice>
  );
}

interface FamilyProps {
  family: Family;
}

function FamilyCard({ family: { available, ...record } }: FamilyProps) {
  const { t } = useTranslation('models');
  const { t: ofVisitor } = useTranslation('visitor');
  return (
    <Card withBorder component="article">
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="lg">
        <Stack gap="tiny">
          <Group gap="sm">
            <Title order={3} size="h4">
              {ofVisitor(`market.families.${record.family}`)}
            </Title>
            <StatusBadge tone={available ? 'good' : 'bad'}>
              {t(available ? 'status.available' : 'status.unavailable')}
            </StatusBadge>
          </Group>
          <Lately {...record} />
        </Stack>
        <DayStrip days={record.days} />
      </SimpleGrid>
    </Card>
  );
}

function Lately({ delivered, latencyMs }: Pick<Family, 'delivered' | 'latencyMs'>) {
  const { t } = useTranslation('models');
  const share = useShare();
  const seconds = useSeconds();
  if (delivered === null) return <Hint>{t('status.few')}</Hint>;
  return (
    <Text size="sm">
      {t('status.delivered', { share: share(delivered) })}
      {latencyMs !== null && ` · ${t('status.latency', { time: seconds(String(latencyMs / 1_000)) })}`}
    </Text>
  );
}

/** Days with many failures, newest first. */
function Incidents({ families }: { families: readonly Family[] }) {
  const { t } = useTranslation('models');
  const { t: ofVisitor } = useTranslation('visitor');
  const share = useShare();
  const dayText = useDay();
  const bad = families
    .flatMap(({ family, days }) => days.map((day) => ({ family, ...day })))
    .filter(({ delivered }) => delivered !== null && delivered < FAIR)
    .toSorted((one, other) => other.day.localeCompare(one.day));
  if (bad.length === 0) return <Text size="sm">{t('status.noIncidents')}</Text>;
  return (
    <Stack component="ul" className="plain-list" gap="sm">
      {bad.map(({ family, day, delivered }) => (
        <li key={`${family} ${day}`}>
          <Text size="sm" fw={600}>
            {dayText(day)} · {ofVisitor(`market.families.${family}`)}
          </Text>
          <Text size="sm">{t('status.failed', { share: share(1 - delivered!) })}</Text>
        </li>
      ))}
    </Stack>
  );
}
