import { Button, Card, Group, Stack, Text, ThemeIcon } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { IconCheck } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useRead } from '../api/client.js';
import { useSession } from '../shell/session.js';
import { signOf } from '../ui/decimal.js';
import { ButtonLink } from '../ui/links.js';
import { Section } from '../ui/page.js';
import { Hint } from '../ui/texts.js';
import type { AccountOverview } from './overview.js';

const steps = [
  { name: 'topUp', to: '/wallet' },
  { name: 'key', to: '/tokens' },
  { name: 'call', to: '/connect' },
] as const;

/**
 * For new customers: the steps before the first call, with those already done, until they are dismissed. That is remembered
 * by the browser for each person: nothing depends on it, and another browser may show the steps once more.
 */
export function FirstSteps({ overview }: { overview: AccountOverview }) {
  const userId = useSession()?.userId ?? '';
  const [isDismissed, dismiss] = useLocalStorage({
    key: `tollgate.first-steps-dismissed.${userId}`,
    defaultValue: false,
    getInitialValueInEffect: false,
  });
  return isDismissed ? null : <Steps overview={overview} dismiss={() => dismiss(true)} />;
}

function Steps({ overview, dismiss }: { overview: AccountOverview; dismiss: () => void }) {
  const { t } = useTranslation('user');
  const keys = useRead('/api/keys', { query: { limit: 1 } }).data;
  const isDone = {
    topUp: signOf(overview.balance.main) > 0,
    key: (keys?.items.length ?? 0) > 0,
    call: overview.lastRequests.length > 0,
  };
  const next = steps.find(({ name }) => !isDone[name]);
  return (
    <Section title={t('overview.steps.title')} aside={<Dismiss dismiss={dismiss} />}>
      <Card withBorder>
        <Stack component="ol" className="steps">
          {steps.map((step, place) => (
            <Step key={step.name} {...step} place={place} isDone={isDone[step.name]} isNext={step === next} />
          ))}
        </Stack>
      </Card>
    </Section>
  );
}

function Dismiss({ dismiss }: { dismiss: () => void }) {
  const { t } = useTranslation('user');
  return (
    <Button variant="default" size="compact-sm" onClick={dismiss}>
      {t('overview.steps.dismiss')}
    </Button>
  );
}

type StepProps = (typeof steps)[number] & { place: number; isDone: boolean; isNext: boolean };

function Step({ name, to, place, isDone, isNext }: StepProps) {
  const { t } = useTranslation('user');
  return (
    <Group component="li" wrap="nowrap" align="flex-start">
      <ThemeIcon variant={isDone ? 'filled' : 'default'} radius="xl" color="green" aria-hidden>
        {isDone ? <IconCheck size={16} /> : place + 1}
      </ThemeIcon>
      <Stack gap="tiny" align="flex-start">
        <Text fw={600}>
          {t(`overview.steps.${name}`)}
          {isDone && <span className="visually-hidden"> ({t('overview.steps.done')})</span>}
        </Text>
        <Hint>{t(`overview.stepHints.${name}`)}</Hint>
        {isNext && (
          <ButtonLink to={to} size="xs">
            {t(`overview.stepLinks.${name}`)}
          </ButtonLink>
        )}
      </Stack>
    </Group>
  );
}
