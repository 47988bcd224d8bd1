import { Card, SimpleGrid, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { type Shape, useRead } from '../api/client.js';
import { FactGrid } from '../ui/lists/facts.js';
import { TextLink } from '../ui/links.js';
import { useLocale, usePercent } from '../ui/locale.js';
import { Hint } from '../ui/texts.js';
import { Notice } from '../ui/notice.js';
import { PageFrame, Section } from '../ui/page.js';
import { EmptyState, Loaded } from '../ui/states.js';
import { When } from '../ui/time/when.js';
import { alarmsOf } from './alarms.js';
import { ProgramCard } from './program-card.js';
import { type System, useRate } from './program.js';

/** Programs report every few seconds. */
const LOOK_AGAIN_MS = 5_000;
const PROGRAMS = ['gateway', 'billing', 'control-plane', 'worker'] as const;

/** The page refreshes itself. */
export default function SystemPage() {
  const { t } = useTranslation('operator');
  const system = useRead('/api/admin/programs', {}, { refetchInterval: LOOK_AGAIN_MS });
  return (
    <PageFrame title={t('system.title')} about={t('system.about')}>
      <Loaded query={system} lines={12}>
        {(found) => (
          <Stack gap="lg">
            <Alarms system={found} />
            <Totals system={found} />
            <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg">
              {PROGRAMS.map((name) => (
                <Programs
                  key={name}
                  name={name}
                  programs={found.items.filter(({ program }) => program === name)}
                />
              ))}
            </SimpleGrid>
          </Stack>
        )}
      </Loaded>
    </PageFrame>
  );
}

export function Alarms({ system }: { system: System }) {
  const { t } = useTranslation('operator');
  const alarms = alarmsOf(system);
  if (alarms.length === 0)
    return (
      <Notice tone="good" title={t('system.well')} role="status">
        {t('system.wellHint')}
      </Notice>
    );
  return (
    <Notice tone="bad" title={t('system.alarms')} role="status">
      <Stack gap="hair">
        {alarms.map(({ kind, of }) => (
          <Text size="sm" key={`${kind} ${of}`}>
            {t(`alarms.${kind}`, { of })}
          </Text>
        ))}
      </Stack>
    </Notice>
  );
}

export function Totals({ system: { items, deadLetters, runningTasks, at } }: { system: System }) {
  const { t } = useTranslation('operator');
  const locale = useLocale();
  const [rate, percent] = [useRate(), usePercent()];
  const sum = (of: (report: Shape<'Program'>['report']) => number | undefined) =>
    items.reduce((all, { isSilent, report }) => all + (isSilent ? 0 : (of(report) ?? 0)), 0);
  const count = (value: number) => value.toLocaleString(locale);
  const letters = <TextLink to="/operator/dead-letters">{count(deadLetters)}</TextLink>;
  const facts = [
    { name: t('totals.requests'), value: rate(sum(({ requests }) => requests?.perSecond)) },
    { name: t('totals.errors'), value: percent(errorRate(items)) },
    { name: t('totals.inFlight'), value: count(sum(({ requests }) => requests?.inFlight)) },
    { name: t('totals.tasks'), value: count(runningTasks) },
    { name: t('totals.repairs'), value: count(sum(({ repairs }) => repairs)) },
    { name: t('totals.deadLetters'), value: letters },
  ];
  return (
    <Card withBorder>
      <FactGrid cols={{ base: 2, sm: 3, lg: 6 }} facts={facts} />
      <Text size="xs" c="dimmed" mt="xs">
        {t('system.at')} <When at={at} />
      </Text>
    </Card>
  );
}

/** Our share of failed answers in the last minute. */
function errorRate(items: readonly Shape<'Program'>[]): number {
  const answers = items.flatMap(({ isSilent, report }) =>
    isSilent ? [] : Object.entries(report.requests?.outcomes ?? {}),
  );
  const count = (of: typeof answers) => of.reduce((all, [, some]) => all + some, 0);
  const all = count(answers);
  return all === 0 ? 0 : count(answers.filter(([name]) => name === '5xx')) / all;
}

/** A single process takes half a row, several take a whole one. */
function Programs({ name, programs }: { name: (typeof PROGRAMS)[number]; programs: Shape<'Program'>[] }) {
  const { t } = useTranslation('operator');
  const isMany = programs.length > 1;
  return (
    <div className={isMany ? 'whole-row' : undefined}>
      <Section
        title={t(`programs.${name}`)}
        aside={
          <Hint>{t('system.count', { count: programs.filter(({ isSilent }) => !isSilent).length })}</Hint>
        }
      >
        {programs.length === 0 ? (
          <EmptyState {...t('system.none')} />
        ) : (
          <SimpleGrid cols={{ base: 1, lg: isMany ? 2 : 1 }}>
            {programs.map((program) => (
              <ProgramCard key={program.instance} program={program} />
            ))}
          </SimpleGrid>
        )}
      </Section>
    </div>
  );
}
