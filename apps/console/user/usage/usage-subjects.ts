import { useTranslation } from 'react-i18next';
import { families } from '../../api/enumerations.js';
import { useKeyName } from '../keys.js';
import type { UsageSearch, UsageSubject } from './usage-search.js';

/** Requests may have no subject, and the smallest are grouped together. */
export function useSubjectName(by: UsageSubject): (subject: string | null) => string {
  const { t } = useTranslation('calls');
  const keyName = useKeyName();
  return (subject) => {
    if (subject === null) return t('others', { ns: 'charts' });
    if (subject === '') return t('none', { ns: 'charts' });
    if (by === 'key') return keyName(subject);
    const family = families.find((each) => by === 'family' && each === subject);
    return family ? t(`families.${family}`) : subject;
  };
}

/** What to split by next, after one was chosen. */
const NEXT: Record<UsageSubject, UsageSubject> = {
  model: 'key',
  key: 'model',
  group: 'model',
  family: 'model',
};
const FIELDS = { model: 'model', key: 'keyId', group: 'group', family: 'family' } as const;

/** Null if the subject cannot be chosen. */
export function narrowedTo(by: UsageSubject, subject: string | null): UsageSearch | null {
  if (subject === null || subject === '') return null;
  const next = NEXT[by];
  return { [FIELDS[by]]: subject, by: next === 'model' ? undefined : next };
}
