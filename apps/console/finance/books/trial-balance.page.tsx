import { Group, Stack } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { type Shape, useShown } from '../../api/client.js';
import { YesFilter } from '../../ui/lists/choice.js';
import { CsvLink } from '../../ui/lists/csv-link.js';
import { DayFilter } from '../../ui/forms/day-field.js';
import { signOf } from '../../ui/decimal.js';
import { Hint, TextLine } from '../../ui/texts.js';
import { Notice } from '../../ui/notice.js';
import { PageFrame, Section } from '../../ui/page.js';
import { EmptyState, Loaded } from '../../ui/states.js';
import { When } from '../../ui/time/when.js';
import { addDays, startOf, today } from '../utc-days.js';
import { BalanceLines } from './balance-lines.js';
import { ControlLink } from './control-words.js';
import { OrderFilter } from './order-filter.js';

const route = getRouteApi('/finance/trial-balance');

/** All ledger balances at the end of a day, by when entries were recorded or took effect. */
export default function TrialBalancePage() {
  const { t } = useTranslation('finance');
  const { by = 'recorded', day } = route.useSearch();
  const query = { by, ...(day === undefined ? {} : { at: startOf(addDays(day)) }) } as const;
  const balance = useShown('/api/finance/trial-balance', { query });
  return (
    <PageFrame
      title={t('trial.title')}
      about={t('trial.about')}
      actions={<CsvLink path="/api/finance/trial-balance.csv" query={query} />}
    >
      <Filters />
      <Loaded query={balance} lines={16}>
        {(found) => <Balance balance={found} />}
      </Loaded>
    </PageFrame>
  );
}

function Filters() {
  const { t } = useTranslation('finance');
  const { by = 'recorded' } = route.useSearch();
  return (
    <Stack gap="xs">
      <Group align="flex-end" gap="sm">
        <DayFilter param="day" label={t('trial.day')} none={t('trial.now')} last={today()} />
        <OrderFilter />
      </Group>
      <Hint>{t(`trial.orderHints.${by}`)}</Hint>
      <Group>
        <YesFilter param="customers" label={t('trial.customers')} />
        <YesFilter param="zero" label={t('trial.zero')} />
      </Group>
    </Stack>
  );
}

function Balance({ balance }: { balance: Shape<'TrialBalance'> }) {
  const { t } = useTranslation('finance');
  const { customers, zero } = route.useSearch();
  const { balances, totals } = balance;
  if (balances.length === 0) return <EmptyState {...t('trial.empty')} />;
  return (
    <>
      <TakenAt balance={balance} />
      {totals.some(({ total }) => signOf(total) !== 0) && <Off />}
      {unitsOf(balance).map(({ key, commodity, unit, members }) => (
        <Section key={key} title={`${t(`commodities.${commodity}`)} · ${unit}`}>
          <BalanceLines
            label={t(`commodities.${commodity}`)}
            balances={members}
            withCustomers={customers === 'yes'}
            withZero={zero === 'yes'}
          />
        </Section>
      ))}
    </>
  );
}

function TakenAt({ balance: { at, recordedBefore } }: { balance: Shape<'TrialBalance'> }) {
  const { t } = useTranslation('finance');
  return (
    <TextLine>
      {at !== null && (
        <>
          {t('trial.at')} <When at={at} />
        </>
      )}
      {recordedBefore !== null && (
        <>
          {' · '}
          {t('trial.recordedBefore')} <When at={recordedBefore} />
        </>
      )}
    </TextLine>
  );
}

function Off() {
  const { t } = useTranslation('finance');
  return (
    <Notice tone="bad" title={t('trial.off')}>
      {t('trial.offHint')} <ControlLink id="ledger">{t('controls.titles.ledger')}</ControlLink>
    </Notice>
  );
}

/** Payments in different currencies are never added. */
function unitsOf({ balances }: Shape<'TrialBalance'>) {
  const keys = [...new Set(balances.map(({ commodity, unit }) => `${commodity} ${unit}`))];
  const order = ['CRD', 'PAY', 'UPC'];
  const inOrder = keys.sort((a, b) => order.indexOf(a.slice(0, 3)) - order.indexOf(b.slice(0, 3)));
  return inOrder.map((key) => {
    const members = balances.filter(({ commodity, unit }) => `${commodity} ${unit}` === key);
    const { commodity, unit } = members[0]!;
    return { key, commodity, unit, members };
  });
}
