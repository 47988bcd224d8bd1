import { Group, Stack } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useShown } from '../../api/lists.js';
import type { Shape } from '../../api/shape.js';
import { SwitchFilter, YesFilter } from '../../ui/lists/choice.js';
import { CsvLink } from '../../ui/lists/csv-link.js';
import { DayFilter } from '../../ui/forms/day-field.js';
import { signOf } from '../../ui/decimal.js';
import { TextLink } from '../../ui/links.js';
import { Notice } from '../../ui/notice.js';
import { PageFrame } from '../../ui/page.js';
import { EmptyState, Loaded, Section } from '../../ui/states.js';
import { Hint, TextLine } from '../../ui/texts.js';
import { When } from '../../ui/time/when.js';
import { addDays, startOf, today } from '../utc-days.js';
import { BalanceLines } from './balance-lines.js';

const route = getRouteApi('/finance/trial-balance');
const orders = ['recorded', 'effective'] as const;

/** The balances of all ledger accounts at the end of a day, by when things were recorded or when they happened. */
export function TrialBalancePage() {
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
        <SwitchFilter
          param="by"
          label={t('trial.by')}
          options={orders.map((value) => ({ value, label: t(`trial.orders.${value}`) }))}
        />
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
  const { at, recordedBefore, balances, totals } = balance;
  const isOff = totals.some(({ total }) => signOf(total) !== 0);
  if (balances.length === 0) return <EmptyState title={t('trial.empty')} hint={t('trial.emptyHint')} />;
  return (
    <>
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
      {isOff && (
        <Notice tone="bad" title={t('trial.off')}>
          {t('trial.offHint')}{' '}
          <TextLink to="/finance/controls/$controlId" params={{ controlId: 'ledger' }}>
            {t('controls.titles.ledger')}
          </TextLink>
        </Notice>
      )}
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

/** Payments in another currency are never added to those of the house. */
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
