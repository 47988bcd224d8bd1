import { Card, Group, SimpleGrid, Skeleton, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useRead } from '../api/client.js';
import { OwnOnly } from '../shell/own-only.js';
import { Chart } from '../ui/charts/chart.js';
import { FactGrid } from '../ui/lists/facts.js';
import { ButtonLink, TextLink } from '../ui/links.js';
import { useLocale } from '../ui/locale.js';
import { LargeMoney, Money, useMoneyText } from '../ui/money.js';
import { Hint, SmallPrint } from '../ui/texts.js';
import { Notice } from '../ui/notice.js';
import { PageFrame, Section } from '../ui/page.js';
import { Loaded } from '../ui/states.js';
import { FirstSteps } from './overview-first-steps.js';
import { LastRequests, RunningTasks } from './overview-lists.js';
import {
  DAYS_FORECAST,
  DAYS_TO_WARN,
  daysLeft,
  isLow,
  type AccountOverview,
  useOverview,
} from './overview.js';
import { useShortDay } from '../ui/time/when.js';

export default function OverviewPage() {
  const { t } = useTranslation('user');
  const overview = useOverview();
  return (
    <PageFrame title={t('overview.title')} actions={<Actions />}>
      <Loaded query={overview} outline={<Outline />}>
        {(found) => (
          <>
            <Warnings overview={found} />
            {isNew(found) && (
              <OwnOnly>
                <FirstSteps overview={found} />
              </OwnOnly>
            )}
            <Balances overview={found} />
            {!isNew(found) && <Days overview={found} />}
            {found.runningTasks > 0 && <RunningTasks overview={found} />}
            {!isNew(found) && <LastRequests requests={found.lastRequests} />}
          </>
        )}
      </Loaded>
    </PageFrame>
  );
}

function Actions() {
  const { t } = useTranslation('user');
  return (
    <OwnOnly>
      <ButtonLink to="/playground" variant="default">
        {t('overview.playground')}
      </ButtonLink>
      <ButtonLink to="/wallet">{t('overview.topUp')}</ButtonLink>
    </OwnOnly>
  );
}

function Outline() {
  return (
    <>
      <SimpleGrid {...BALANCES}>
        {Array.from({ length: BALANCES.cols.md }, (_, card) => (
          <Skeleton key={card} height={110} />
        ))}
      </SimpleGrid>
      <Skeleton height={380} mt="lg" />
    </>
  );
}

const BALANCES = {
  cols: { base: 2, md: 4 },
  spacing: { base: 'xs', xs: 'md' },
  className: 'figures',
};

/** Accounts without calls see how to start instead of empty charts. */
function isNew({ lastRequests }: AccountOverview): boolean {
  return lastRequests.length === 0;
}

/** Why calls are refused, or soon will be. */
function Warnings({ overview }: { overview: AccountOverview }) {
  const { t } = useTranslation('user');
  const account = useRead('/api/account').data;
  if (overview.frozen) return <Frozen reason={account?.frozen?.reason} />;
  if (isNew(overview) || !isLow(overview, account?.lowBalanceThreshold ?? null)) return null;
  const days = daysLeft(overview, DAYS_TO_WARN);
  return (
    <Notice tone="warning" title={t('overview.low.title')}>
      <Group justify="space-between">
        <Text size="sm">
          {days === null ? t('overview.low.threshold') : t('overview.low.days', { count: days })}
        </Text>
        <OwnOnly>
          <ButtonLink to="/wallet" size="xs">
            {t('overview.topUp')}
          </ButtonLink>
        </OwnOnly>
      </Group>
    </Notice>
  );
}

function Frozen({ reason }: { reason: string | undefined }) {
  const { t } = useTranslation('user');
  return (
    <Notice tone="bad" title={t('overview.frozen')}>
      {reason === 'debt' ? t('overview.debt') : reason}
    </Notice>
  );
}

function Balances({ overview }: { overview: AccountOverview }) {
  const { t } = useTranslation('user');
  const { balance, today } = overview;
  const left = daysLeft(overview, DAYS_FORECAST);
  const cards = [
    { name: 'main', value: balance.main },
    { name: 'held', value: balance.held },
    { name: 'invite', value: balance.invite },
    { name: 'today', value: today.spent },
  ] as const;
  return (
    <SimpleGrid {...BALANCES}>
      {cards.map(({ name, value }) => (
        <Amount
          key={name}
          name={t(`overview.balance.${name}`)}
          value={value}
          hint={
            name === 'main' && left ? t('overview.lasts', { count: left }) : t(`overview.balanceHint.${name}`)
          }
        />
      ))}
    </SimpleGrid>
  );
}

function Amount({ name, value, hint }: { name: string; value: string; hint: string }) {
  return (
    <Card withBorder>
      <Stack gap="tiny">
        <Hint>{name}</Hint>
        <LargeMoney value={value} short />
        <SmallPrint>{hint}</SmallPrint>
      </Stack>
    </Card>
  );
}

/** Thirty days in the viewer's time zone. */
function Days({ overview: { days, total, zone } }: { overview: AccountOverview }) {
  const { t } = useTranslation('user');
  const money = useMoneyText();
  const shortDay = useShortDay();
  const points = days.map(({ day, spent }) => ({ at: shortDay(day), values: { spent } }));
  return (
    <Section title={t('overview.days.title')}>
      <Card withBorder>
        <Stack>
          <Sums total={total} />
          <Chart
            kind="stacked-bar"
            label={t('overview.days.chart')}
            points={points}
            series={[{ name: 'spent', label: t('overview.days.spent'), color: 'blue.6' }]}
            text={money}
            height={220}
          />
          <DaysFoot zone={zone} />
        </Stack>
      </Card>
    </Section>
  );
}

function Sums({ total }: Pick<AccountOverview, 'total'>) {
  const { t } = useTranslation('user');
  const locale = useLocale();
  const facts = [
    { name: t('overview.days.spent'), value: <Money value={total.spent} short /> },
    { name: t('overview.days.requests'), value: total.requests.toLocaleString(locale) },
    { name: t('overview.days.failures'), value: total.failures.toLocaleString(locale) },
    { name: t('overview.days.givenBack'), value: <Money value={total.givenBack} short /> },
  ];
  return <FactGrid cols={{ base: 2, md: 4 }} facts={facts} />;
}

function DaysFoot({ zone }: { zone: string }) {
  const { t } = useTranslation('user');
  return (
    <Group justify="space-between">
      <SmallPrint>{t('overview.days.zone', { zone })}</SmallPrint>
      <Group>
        <TextLink to="/usage" size="sm">
          {t('overview.days.usage')}
        </TextLink>
        <TextLink to="/wallet" search={{ tab: 'statement' }} size="sm">
          {t('overview.days.statement')}
        </TextLink>
      </Group>
    </Group>
  );
}
