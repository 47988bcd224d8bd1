import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { CSSProperties } from 'react';
import { useTranslation } from 'react-i18next';
import { relayQuery } from '../api/client.js';
import { amountText, CREDIT_UNIT, multiplyDecimals, roundHalfUp, shortAmount, signOf } from './decimal.js';
import { useLocale } from './locale.js';

interface MoneyProps {
  /** A decimal string. */
  value: string;
  /** An ISO code, or CRD for credits, which is the default. */
  currency?: string | undefined;
  /**
   * Two decimals with the exact value on hover, for headlines. They are cut, so that a balance never shows more than there is, or
   * rounded, for figures of the books.
   */
  short?: boolean | 'rounded';
  /** Puts a plus before incoming amounts, for statements. */
  signed?: boolean;
  /** Aligns its decimal point with amounts above. */
  aligned?: boolean;
}

/** An amount of credits or money: "0.02 credits", "$13.00". Use it for every amount. */
export function Money(props: MoneyProps) {
  const { value, currency = CREDIT_UNIT, short = false, signed = false, aligned = false } = props;
  const locale = useLocale();
  const exact = useMoneyText(currency)(value);
  const [before = '', after = ''] = useUnit()(AMOUNT, currency).split(AMOUNT);
  const written = short ? shortAmount : amountText;
  const amount = written(short === 'rounded' ? roundHalfUp(value, 2) : value, { currency, locale });
  const plus = signed && signOf(value) > 0 ? '+' : '';
  return (
    <data
      value={value}
      title={exact}
      className={aligned ? 'money money-aligned' : 'money'}
      style={aligned ? roomOf(exact) : undefined}
    >
      {before}
      {plus}
      {amount}
      {after && <span className="unit">{after}</span>}
    </data>
  );
}

/** The main amount of a card or page, in large type. */
export function LargeMoney(props: MoneyProps) {
  return (
    <Text size="xl" fw={600} component="div">
      <Money {...props} />
    </Text>
  );
}

/** Placeholder for the amount in the text with its unit. */
const AMOUNT = '#';

/** How many decimals an amount has; styles pad it to align the points, so that it remains one text. */
function roomOf(amount: string): CSSProperties {
  const decimals = /[.,]\d+(?=\D*$)/.exec(amount)?.[0] ?? '';
  return { '--decimals': `${decimals.length}ch` } as CSSProperties;
}

/** As plain text, such as for labels of charts and fields. */
export function useMoneyText(currency = CREDIT_UNIT): (value: string) => string {
  const text = useAmountText();
  return (value) => text(value, currency);
}

/** As plain text, for amounts with different units. */
export function useAmountText(): (value: string, currency: string) => string {
  const locale = useLocale();
  const unit = useUnit();
  return (value, currency) => unit(amountText(value, { currency, locale }), currency);
}

/** Intl knows the units of money; ours are in the texts. */
function useUnit(): (amount: string, currency: string) => string {
  const { t } = useTranslation('shell');
  return (amount, currency) => (currency === CREDIT_UNIT ? t('credits', { amount }) : amount);
}

/** What credits cost the viewer at their rate: "$0.026". Null until the rate is loaded. */
export function usePaidFor(): (credits: string) => string | null {
  const { data } = useQuery(relayQuery);
  const money = useMoneyText(data?.paymentCurrency);
  return (credits) => (data ? money(multiplyDecimals(credits, data.creditRate)) : null);
}

/** Credits and what they cost, with two decimals each: "0.39 credits ($0.50)". For headlines. */
export function ShortPrices({ value }: { value: string }) {
  const { data } = useQuery(relayQuery);
  return (
    <>
      <Money value={value} short />{' '}
      {data && (
        <span className="paid">
          (<Money value={multiplyDecimals(value, data.creditRate)} currency={data.paymentCurrency} short />)
        </span>
      )}
    </>
  );
}

/** A price to decide by: "0.02 credits ($0.026)". */
export function BothPrices({ value }: { value: string }) {
  const paid = usePaidFor()(value);
  return (
    <>
      <Money value={value} /> {paid !== null && <span className="paid">({paid})</span>}
    </>
  );
}
