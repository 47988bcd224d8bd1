import { Group, Stack, Text, Timeline } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { allOf } from '../../api/all-of.js';
import { api, type Shape } from '../../api/client.js';
import { asFailure } from '../../api/failure.js';
import { exactDecimal } from '../../ui/decimal.js';
import { BackLink, ButtonLink } from '../../ui/links.js';
import { useLocale } from '../../ui/locale.js';
import { PageFrame } from '../../ui/page.js';
import { EmptyState, Loaded } from '../../ui/states.js';
import { Hint } from '../../ui/texts.js';
import { StatusBadge, type Tone } from '../../ui/status-badge.js';
import { When } from '../../ui/time/when.js';
import { useModels } from '../catalog.js';
import { PriceValue } from './change.js';
import { PriceChart, versionKey } from '../../ui/charts/price-chart.js';

const TONES: Record<Shape<'PriceHistoryEntry'>['state'], Tone> = {
  past: 'quiet',
  in_force: 'good',
  announced: 'waiting',
};

/** From the announced to the oldest. A model that was never on sale has none. */
function useVersions(model: string) {
  return useQuery({
    queryKey: ['get', '/api/admin/prices/{model}/history', 'all', model],
    queryFn: () =>
      allOf(async (query) => {
        const init = { params: { path: { model }, query } };
        return (await api.GET('/api/admin/prices/{model}/history', init)).data!;
      }).catch((error: unknown): Shape<'PriceHistoryEntry'>[] => {
        if (asFailure(error).code === 'not_found') return [];
        throw error;
      }),
  });
}

export default function TimeLinePage() {
  const { t } = useTranslation('prices');
  const { model } = useParams({ from: '/admin/prices/models/$model' });
  const propose = <Propose model={model} />;
  return (
    <PageFrame
      title={t('timeLine.title', { model })}
      about={t('timeLine.about')}
      actions={propose}
      width={60}
    >
      <BackLink to="/admin/prices">{t('back')}</BackLink>
      <Loaded query={useVersions(model)} lines={10}>
        {(found) =>
          found.length === 0 ? (
            <EmptyState {...t('timeLine.empty')} action={propose} />
          ) : (
            <History model={model} versions={found} />
          )
        }
      </Loaded>
    </PageFrame>
  );
}

function Propose({ model }: { model: string }) {
  const { t } = useTranslation('prices');
  return (
    <ButtonLink to="/admin/prices/propose" search={{ model }}>
      {t('propose.newPrice')}
    </ButtonLink>
  );
}

interface HistoryProps {
  model: string;
  versions: readonly Shape<'PriceHistoryEntry'>[];
}

function History({ model, versions }: HistoryProps) {
  const { t } = useTranslation('prices');
  const unit = useModels().data?.find(({ id }) => id === model)?.unit;
  return (
    <Stack gap="lg">
      <PriceChart
        label={t('timeLine.chart', { model })}
        versions={versions}
        now={t('timeLine.now')}
        always={t('timeLine.always')}
        seriesLabel={(name) => (name === 'unitPrice' ? t('columns.price') : t(`tokens.${name}`))}
        fewest={3}
      />
      <Timeline bulletSize={16} lineWidth={2} aria-label={t('timeLine.label')} role="list">
        {versions.map((version) => (
          <Timeline.Item key={versionKey(version)} role="listitem" title={<VersionTitle version={version} />}>
            <Version version={version} unit={unit} />
          </Timeline.Item>
        ))}
      </Timeline>
    </Stack>
  );
}

interface VersionProps {
  version: Shape<'PriceHistoryEntry'>;
  unit: Shape<'Model'>['unit'] | undefined;
}

function Version({ version, unit }: VersionProps) {
  const { t } = useTranslation('prices');
  const { effectiveFrom } = version;
  return (
    <>
      <Text component="div">
        <VersionValue version={version} unit={unit} />
      </Text>
      <Hint>
        {effectiveFrom === null ? t('timeLine.always') : t('timeLine.from')}{' '}
        {effectiveFrom !== null && <When at={effectiveFrom} />}
      </Hint>
    </>
  );
}

function VersionTitle({ version: { group, kind, state } }: { version: Shape<'PriceHistoryEntry'> }) {
  const { t } = useTranslation('prices');
  return (
    <Group gap="xs">
      <Text fw={600}>{group === null ? t('kinds.price') : `${t(`kinds.${kind}`)} ${group}`}</Text>
      <StatusBadge tone={TONES[state]}>{t(`versionStates.${state}`)}</StatusBadge>
    </Group>
  );
}

function VersionValue({ version: { kind, price, multiplier }, unit }: VersionProps) {
  const { t } = useTranslation('prices');
  const locale = useLocale();
  if (kind === 'multiplier')
    return multiplier === null ? t('value.withdrawn') : `× ${exactDecimal(multiplier, locale)}`;
  if (price === null) return kind === 'rule' ? t('value.listPrices') : t('value.withdrawn');
  return <PriceValue price={price} unit={kind === 'rule' ? 'call' : unit} />;
}
