import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/shape.js';
import { useLocale } from '../../ui/locale.js';

const DETAILS = [
  'provider',
  'reference',
  'why',
  'amount',
  'at',
  'bankAccount',
  'until',
  'firstAt',
  'lines',
  'theirs',
  'theirsAt',
  'ours',
  'oursAt',
  'payouts',
  'model',
  'task',
  'held_since',
  'failed_at',
  'account',
  'period',
  'charge',
  'main',
  'oldest',
  'recordedAt',
  'now',
  'told',
] as const;

const TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?\+00$/;

/** A detail that is a time, as the database writes it, in the form of all others; null where it is none. */
export function momentOf(detail: string | null): string | null {
  return detail !== null && TIME.test(detail) ? detail.replace(' ', 'T').replace('+00', 'Z') : null;
}

/** What a finding says, in the language that is shown: the sentences of the server are English. */
export function useFindingWords() {
  const { t, i18n } = useTranslation('finance');
  const times = new Intl.DateTimeFormat(useLocale(), { dateStyle: 'medium', timeStyle: 'medium' });
  const detailOf = (name: string): string => {
    const known = DETAILS.find((each) => each === name);
    return known ? t(`findingDetails.${known}`) : name;
  };
  const wordsOf = ({ message, details }: Pick<Shape<'Finding'>, 'message' | 'details'>): string => {
    if (i18n.language.startsWith('en')) return message;
    const known = Object.entries(details).filter(([, value]) => value !== null && value !== '');
    const valueOf = (value: string | null) => {
      const time = momentOf(value);
      return time === null ? value : times.format(new Date(time));
    };
    return known.map(([name, value]) => `${detailOf(name)} ${valueOf(value)}`).join('，');
  };
  return { detailOf, wordsOf };
}
