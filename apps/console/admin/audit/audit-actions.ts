import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/shape.js';

type Action = Shape<'AuditEntry'>['action'];

/** What the entries of the audit log note, by name. */
export function useActions() {
  const { t } = useTranslation('admin');
  const names = Object.entries(t('audit.actions', { returnObjects: true })) as [Action, string][];
  return {
    /** A later version has more of them. */
    nameOf: (action: Action): string => names.find(([each]) => each === action)?.[1] ?? action,
    options: names.map(([value, label]) => ({ value, label })),
    /** Undefined: there is no such action. */
    known: (action: string | undefined) => names.find(([each]) => each === action)?.[0],
  };
}
