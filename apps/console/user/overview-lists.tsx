import { Card, Group, Progress, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../api/client.js';
import { amountColumn, column, longText } from '../ui/lists/columns.js';
import { DataList, knownRows, type ListColumn } from '../ui/lists/data-list.js';
import { TextLink } from '../ui/links.js';
import { Money } from '../ui/money.js';
import { Section } from '../ui/page.js';
import { SmallPrint } from '../ui/texts.js';
import { StatusBadge, type Tone } from '../ui/status-badge.js';
import { Ago, When } from '../ui/time/when.js';
import type { AccountOverview } from './overview.js';

export function RunningTasks({ overview: { running, runningTasks } }: { overview: AccountOverview }) {
  const { t } = useTranslation('user');
  return (
    <Section title={t('overview.running.title', { count: runningTasks })}>
      <Card withBorder>
        <Stack component="ul" className="plain-list">
          {running.map((task) => (
            <Running key={task.id} task={task} />
          ))}
        </Stack>
      </Card>
    </Section>
  );
}

function Running({ task: { prompt, model, progress, state, held, createdAt } }: { task: Shape<'Task'> }) {
  const { t } = useTranslation('user');
  return (
    <Stack component="li" gap="tiny">
      <Group justify="space-between" wrap="nowrap">
        <Text size="sm" fw={600} lineClamp={1}>
          {prompt}
        </Text>
        <StatusBadge tone={state === 'queued' ? 'waiting' : 'busy'}>
          {state === 'queued' ? t('overview.running.queued') : `${progress}%`}
        </StatusBadge>
      </Group>
      <Progress value={progress} aria-label={t('overview.running.progress', { prompt })} />
      <SmallPrint>
        {model} · <When at={createdAt} />
        {held !== null && <Held amount={held} />}
      </SmallPrint>
    </Stack>
  );
}

function Held({ amount }: { amount: string }) {
  const { t } = useTranslation('user');
  return (
    <>
      {' '}
      · {t('overview.running.held')} <Money value={amount} />
    </>
  );
}

const tones: Record<Shape<'UsageEntry'>['state'], Tone> = {
  refused: 'bad',
  held: 'busy',
  settled: 'good',
  released: 'quiet',
};

export function LastRequests({ requests }: { requests: readonly Shape<'UsageEntry'>[] }) {
  const { t } = useTranslation('user');
  return (
    <Section
      title={t('overview.requests.title')}
      aside={
        <TextLink to="/logs" size="sm">
          {t('overview.requests.all')}
        </TextLink>
      }
    >
      <DataList
        query={knownRows(requests)}
        columns={useColumns()}
        rowKey="chargeId"
        empty={{
          ...t('overview.requests.empty'),
          action: <TextLink to="/connect">{t('overview.stepLinks.call')}</TextLink>,
        }}
      />
    </Section>
  );
}

function useColumns(): ListColumn<Shape<'UsageEntry'>>[] {
  const { t } = useTranslation('user');
  return [
    column('at', t('overview.requests.at'), ({ at, chargeId }) => (
      <TextLink to="/logs" search={{ charge: chargeId }}>
        <Ago at={at} />
      </TextLink>
    )),
    column('model', t('overview.requests.model'), ({ requestedModel, model }) =>
      longText(requestedModel ?? model),
    ),
    column('state', t('overview.requests.state'), ({ state, refusalCode }) => (
      <StatusBadge tone={tones[state]} {...(refusalCode === null ? {} : { hint: refusalCode })}>
        {t(`overview.requests.states.${state}`)}
      </StatusBadge>
    )),
    amountColumn('amount', t('overview.requests.amount'), ({ state, held, settled }) => (
      <Money aligned value={state === 'held' ? held : state === 'settled' ? (settled ?? '0') : '0'} />
    )),
  ];
}
