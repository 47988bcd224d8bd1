import { useTranslation } from 'react-i18next';
import type { Shape } from '../api/client.js';

type PostingKind = Shape<'LedgerStatement'>['items'][number]['kind'];

/** The name of a posting's type, or its code if it is of a later version. */
export function KindOfPosting({ kind }: { kind: PostingKind }) {
  const { t } = useTranslation('finance');
  return t(`kinds.${kind}`, { defaultValue: kind });
}
