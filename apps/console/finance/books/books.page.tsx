import { Badge, Card, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { IconRefresh } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { $api, api } from '../../api/client.js';
import { refresh } from '../../api/queries.js';
import type { Shape } from '../../api/shape.js';
import { notify } from '../../shell/notices.js';
import { Figure, Figures } from '../../ui/lists/facts.js';
import { TextLink } from '../../ui/links.js';
import { PageFrame } from '../../ui/page.js';
import { Loaded, Section } from '../../ui/states.js';
import { SmallPrint } from '../../ui/texts.js';
import { When } from '../../ui/when.js';
import { ControlLight, useControlWords } from './control-words.js';
import { controlGroups, namedControl } from './controls.js';
import { Progress } from './progress.js';
import { ActionButton } from '../../ui/action-button.js';

const LOOK_AGAIN_MS = 20_000;

/** Whether the books agree: each control as a light, and up to when everything is posted. */
export function BooksPage() {
  const { t } = useTranslation('finance');
  const controls = $api.useQuery('get', '/api/finance/controls', {}, { refetchInterval: LOOK_AGAIN_MS });
  return (
    <PageFrame title={t('books.title')} about={t('books.about')} actions={<RunControls />}>
      <Loaded query={controls} lines={14}>
        {({ items }) => (
          <>
            <Summary controls={items} />
            {groupsOf(items).map(({ name, controls: members }) => (
              <Section key={name} title={t(`books.groups.${name}`)}>
                <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} component="ul" className="plain-list">
                  {members.map((control) => (
                    <Light key={control.id} control={control} />
                  ))}
                </SimpleGrid>
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

function Light({ control }: { control: Shape<'ControlStanding'> }) {
  const { t } = useTranslation('finance');
  const { titleOf } = useControlWords();
  const { id, lastRunAt, unacknowledged, error } = control;
  return (
    <Card withBorder component="li" padding="sm">
      <Stack gap="xs" h="100%" justify="space-between">
        <Stack gap="tiny">
          <Group justify="space-between" wrap="nowrap" align="flex-start">
            <TextLink to="/finance/controls/$controlId" params={{ controlId: id }} fw={600}>
              {titleOf(control)}
            </TextLink>
            <ControlLight control={control} />
          </Group>
          {error !== null && <Text size="sm">{error}</Text>}
        </Stack>
        <Group justify="space-between" gap="xs">
          <SmallPrint>{lastRunAt === null ? t('books.neverRun') : <When at={lastRunAt} />}</SmallPrint>
          <Group gap="xs">
            {unacknowledged > 0 && (
              <Badge variant="default" tt="none">
                {t('books.unreadCount', { count: unacknowledged })}
              </Badge>
            )}
            <RunControls control={control} />
          </Group>
        </Group>
      </Stack>
    </Card>
  );
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
