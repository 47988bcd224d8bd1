import { useTranslation } from 'react-i18next';
import { postingKinds } from '../api/posting-kinds.js';

/** What a posting is, in words; kinds without a name are shown as in the ledger. */
export function KindOfPosting({ kind }: { kind: string }) {
  const { t } = useTranslation('finance');
  const known = postingKinds.find((each) => each === kind);
  return known ? t(`kinds.${known}`) : kind;
}
