import { useTranslation } from 'react-i18next';
import { postingKinds } from '../api/posting-kinds.js';

/** The name of a posting's type, or its code if it has none. */
export function KindOfPosting({ kind }: { kind: string }) {
  const { t } = useTranslation('finance');
  const known = postingKinds.find((each) => each === kind);
  return known ? t(`kinds.${known}`) : kind;
}
