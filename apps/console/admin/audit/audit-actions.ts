import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/client.js';

type Action = Shape<'AuditEntry'>['action'];

export function useActions() {
  const { t } = useTranslation('admin');
  const names = Object.entries(t('audit.actions', { returnObjects: true })) as [Action, string][];
  return {
    /** A later version may know more actions. */
    nameOf: (action: Action): string => names.find(([each]) => each === action)?.[1] ?? action,
    options: names.map(([value, label]) => ({ value, label })),
    /** Undefined if there is no such action. */
    known: (action: string | undefined) => names.find(([each]) => each === action)?.[0],
  };
}
