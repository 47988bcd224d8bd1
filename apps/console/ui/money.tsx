import { exactMoney, shortMoney, signOf } from './decimal.js';
import { useLocale } from './locale.js';

interface MoneyProps {
  /** A decimal string, as the server sends it. */
  value: string;
  /** Balance is in USD; payments are in another currency where the relay is paid in one. */
  currency?: string;
  /** Two decimals, marked with ≈ where that is not all: for overviews. Lists and details show all. */
  short?: boolean;
  /** A plus before what came in, for statements. */
  signed?: boolean;
}

/** An amount with its currency. Use it for every amount: all decimals are shown, or on hover, and nothing is rounded silently. */
export function Money({ value, currency = 'USD', short = false, signed = false }: MoneyProps) {
  const style = { currency, locale: useLocale() };
  const exact = exactMoney(value, style);
  const text = short ? shortMoney(value, style) : exact;
  const plus = signed && signOf(value) > 0 ? '+' : '';
  return (
    <data value={value} title={exact} className="money">
      {plus}
      {text}
    </data>
  );
}

/** The same as plain text, where no element is possible, such as labels of charts and fields. */
export function useMoneyText(currency = 'USD'): (value: string) => string {
  const locale = useLocale();
  return (value) => exactMoney(value, { currency, locale });
}
