import { SimpleGrid, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { type Shape, useRead } from '../../api/client.js';
import { Chart } from '../../ui/charts/chart.js';
import { Figure } from '../../ui/lists/facts.js';
import { Section } from '../../ui/page.js';
import { Loaded } from '../../ui/states.js';
import { Hint } from '../../ui/texts.js';
import { DayStrip, StripLegend, useDay, useSeconds, useShare } from './record-days.js';

type ModelRecordView = Shape<'ModelRecord'>;

export function ModelRecord({ model }: { model: string }) {
  const { t } = useTranslation('models');
  const record = useRead('/api/public/models/{model}/record', { path: { model } });
  return (
    <Section title={t('record.title')}>
      <Loaded query={record} lines={6}>
        {(found) =>
          found.delivered === null && found.latencyMs === null ? (
            <Hint>{t('record.few')}</Hint>
          ) : (
            <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="lg">
              <Delivered record={found} />
              <Latency record={found} />
            </SimpleGrid>
          )
        }
      </Loaded>
    </Section>
  );
}

function Delivered({ record: { delivered, days } }: { record: ModelRecordView }) {
  const { t } = useTranslation('models');
  const share = useShare();
  return (
    <Stack gap="sm">
      <dl className="facts">
        <Figure name={t('record.delivered')} value={share(delivered)} hint={t('record.deliveredHint')} />
      </dl>
      <DayStrip days={days} />
      <StripLegend />
    </Stack>
  );
}

function Latency({ record: { latencyMs, days } }: { record: ModelRecordView }) {
  const { t } = useTranslation('models');
  const seconds = useSeconds();
  return (
    <Stack gap="sm">
      <dl className="facts">
        <Figure
          name={t('record.latency')}
          value={latencyMs === null ? t('record.unknown') : seconds(String(latencyMs / 1_000))}
          hint={t('record.latencyHint')}
        />
      </dl>
      {days.some((day) => day.latencyMs !== null) ? (
        <LatencyChart days={days} />
      ) : (
        <Text size="sm">{t('record.few')}</Text>
      )}
    </Stack>
  );
}

function LatencyChart({ days }: Pick<ModelRecordView, 'days'>) {
  const { t } = useTranslation('models');
  const dayText = useDay();
  return (
    <Chart
      kind="line"
      label={t('record.latencyByDay')}
      points={days.map(({ day, latencyMs }) => ({
        at: dayText(day),
        values: { latency: latencyMs === null ? null : String(latencyMs / 1_000) },
      }))}
      series={[{ name: 'latency', label: t('record.latency'), color: 'blue.6' }]}
      text={useSeconds()}
      height={160}
    />
  );
}
