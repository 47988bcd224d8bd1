import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/client.js';
import { addDecimals, signOf } from '../../ui/decimal.js';
import { TextLink } from '../../ui/links.js';
import { type DebitCreditLine, DebitCredit } from '../debit-credit.js';
import { LedgerAccountLink } from '../transaction-links.js';

interface BalanceLinesProps {
  label: string;
  /** All with the same unit. */
  balances: readonly Shape<'PeriodBalance'>[];
  /** Whether to list each customer's accounts; there may be thousands. */
  withCustomers: boolean;
  withZero: boolean;
}

/** Balances of ledger accounts. Customers' accounts are added up unless asked for. */
export function BalanceLines({ label, balances, withCustomers, withZero }: BalanceLinesProps) {
  const { t } = useTranslation('finance');
  const lines = [
    ...(withCustomers ? [] : together(balances)),
    ...balances.filter(({ accountId }) => withCustomers || accountId === null).map(lineOf),
  ].filter(({ amount }) => withZero || signOf(amount) !== 0);
  return <DebitCredit label={label} heading={t('accounts.code')} lines={lines} />;
}

function lineOf({ id, code, kind, unit, balance }: Shape<'PeriodBalance'>): DebitCreditLine {
  return { key: id, name: <Account id={id} code={code} kind={kind} />, unit, amount: balance };
}

/** Adds up `customer:{id}:main` and the like. */
function together(balances: readonly Shape<'PeriodBalance'>[]): DebitCreditLine[] {
  const groups = Map.groupBy(
    balances.filter(({ accountId }) => accountId !== null),
    ({ code }) => code.split(':').at(-1)!,
  );
  return [...groups].map(([purse, members]) => ({
    key: purse,
    name: <Customers purse={purse} count={members.length} />,
    unit: members[0]!.unit,
    amount: addDecimals(...members.map(({ balance }) => balance)),
  }));
}

function Customers({ purse, count }: { purse: string; count: number }) {
  const { t } = useTranslation('finance');
  return (
    <>
      <TextLink to="/finance/ledger-accounts" search={{ code: 'customer:' }} className="model-name">
        {t('trial.allCustomers', { purse })}
      </TextLink>{' '}
      <Text span size="xs" c="dimmed">
        {t('trial.count', { count })}
      </Text>
    </>
  );
}

function Account({ id, code, kind }: Pick<Shape<'PeriodBalance'>, 'id' | 'code' | 'kind'>) {
  const { t } = useTranslation('finance');
  return (
    <span>
      <LedgerAccountLink id={id} code={code} />{' '}
      <Text span size="xs" c="dimmed">
        {t(`accounts.kinds.${kind}`)}
      </Text>
    </span>
  );
}
