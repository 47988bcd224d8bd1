import { Group, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/client.js';
import { column, numberColumn, rightColumn, timeColumn } from '../../ui/lists/columns.js';
import { DataList, knownRows, type ListColumn } from '../../ui/lists/data-list.js';
import { NONE } from '../../ui/lists/phone-row.js';
import { TwoLines } from '../../ui/texts.js';
import { StatusBadge, type Tone } from '../../ui/status-badge.js';
import { When } from '../../ui/time/when.js';

type Program = Shape<'ChannelHealth'>['programs'][number];
type CircuitState = Program['state'];

/** Programs report every few seconds. */
export const LOOK_AGAIN_MS = 5_000;

const CIRCUITS: Record<CircuitState, Tone> = { closed: 'good', half_open: 'waiting', open: 'bad' };
const WORST: readonly CircuitState[] = ['open', 'half_open', 'closed'];

interface HealthProps {
  health: Shape<'ChannelHealth'> | undefined;
}

/** Whether a channel takes calls, is drained, or has an open circuit. */
export function ChannelState({ enabled, health }: HealthProps & { enabled: boolean }) {
  const { t } = useTranslation('catalog');
  if (!enabled) {
    const isDraining = (health?.runningTasks ?? 0) > 0;
    return (
      <StatusBadge tone={isDraining ? 'busy' : 'quiet'}>
        {isDraining ? t('channels.states.draining') : t('channels.states.off')}
      </StatusBadge>
    );
  }
  const worst = WORST.find((state) => health?.programs.some((program) => program.state === state));
  if (worst === undefined) return <StatusBadge tone="quiet">{t('channels.states.unused')}</StatusBadge>;
  return <Circuit state={worst} />;
}

export function Circuit({ state }: { state: CircuitState }) {
  const { t } = useTranslation('catalog');
  return <StatusBadge tone={CIRCUITS[state]}>{t(`channels.circuits.${state}`)}</StatusBadge>;
}

/** Of the slowest program, since customers may reach any of them. */
export function Latency({ health }: HealthProps) {
  const worst = Math.max(...(health?.programs ?? []).map(({ p99Ms }) => p99Ms ?? -1));
  return <>{worst < 0 ? '–' : milliseconds(worst)}</>;
}

export function milliseconds(value: number | null): string {
  return value === null ? '–' : `${Math.round(value)}\u00a0ms`;
}

export function ChannelPrograms({ health }: { health: Shape<'ChannelHealth'> }) {
  const { t } = useTranslation('catalog');
  return (
    <DataList
      query={knownRows(health.programs)}
      columns={useColumns()}
      rowKey={({ program, instance, model }) => `${program} ${instance} ${model}`}
      empty={t('health.empty')}
    />
  );
}

function useColumns(): ListColumn<Program>[] {
  const { t } = useTranslation('catalog');
  return [
    column('program', t('health.program'), ({ program, instance }) => (
      <Group gap="xs">
        {t(`health.programs.${program}`)}
        <Text span size="xs" c="dimmed" ff="monospace">
          {instance}
        </Text>
      </Group>
    )),
    column('model', t('health.model'), ({ model }) => (
      <Text span size="sm" className="model-name">
        {model ?? t('health.polls')}
      </Text>
    )),
    column('circuit', t('health.circuit'), ({ state }) => <Circuit state={state} />),
    numberColumn('inFlight', t('health.inFlight')),
    numberColumn('failures', t('health.failures')),
    rightColumn('p50', 'p50', ({ p50Ms }) => milliseconds(p50Ms)),
    rightColumn('p99', 'p99', ({ p99Ms }) => milliseconds(p99Ms)),
    column('last', t('health.lastFailure'), ({ lastFailure }) =>
      lastFailure === null ? NONE : <Failure of={lastFailure} />,
    ),
    timeColumn('reportedAt', t('health.reported')),
  ];
}

function Failure({ of: { kind, status, reason, at } }: { of: NonNullable<Program['lastFailure']> }) {
  const { t } = useTranslation('catalog');
  return (
    <TwoLines
      first={
        <>
          {kind !== null && `${t(`health.failureKinds.${kind}`, { defaultValue: kind })} · `}
          {status !== null && `HTTP ${status} · `}
          <When at={at} />
        </>
      }
      // What networks and vendors say is in English.
      second={
        <span lang="en" className="model-name">
          {reason}
        </span>
      }
    />
  );
}

/** Tells two keys apart without showing either. */
export function KeyMark({ mark }: { mark: string }) {
  return (
    <Text span size="xs" c="dimmed" ff="monospace">
      {mark}
    </Text>
  );
}
