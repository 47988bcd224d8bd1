import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/shape.js';

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

/** What a finding says, in the language that is shown: the sentences of the server are English. */
export function useFindingWords() {
  const { t, i18n } = useTranslation('finance');
  const detailOf = (name: string): string => {
    const known = DETAILS.find((each) => each === name);
    return known ? t(`findingDetails.${known}`) : name;
  };
  const wordsOf = ({ message, details }: Pick<Shape<'Finding'>, 'message' | 'details'>): string => {
    if (i18n.language.startsWith('en')) return message;
    const known = Object.entries(details).filter(([, value]) => value !== null && value !== '');
    return known.map(([name, value]) => `${detailOf(name)} ${value}`).join('，');
  };
  return { detailOf, wordsOf };
}
