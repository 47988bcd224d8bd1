import { useTranslation } from 'react-i18next';

/** What the entries of the audit log note, by name. */
export function useActions() {
  const { t } = useTranslation('admin');
  const names = Object.entries<string>(t('audit.actions', { returnObjects: true }));
  return {
    // An action that is newer than these texts is shown by its code.
    nameOf: (action: string) => t(`audit.actions.${action}` as 'audit.action', { defaultValue: action }),
    options: names.map(([value, label]) => ({ value, label })),
  };
}
