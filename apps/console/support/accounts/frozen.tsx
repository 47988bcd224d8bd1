import { useTranslation } from 'react-i18next';
import { StatusBadge } from '../../ui/status-badge.js';

/** Whether calls of an account are refused. */
export function Frozen({ isFrozen }: { isFrozen: boolean }) {
  const { t } = useTranslation('support');
  return isFrozen ? (
    <StatusBadge tone="bad">{t('accounts.frozen')}</StatusBadge>
  ) : (
    <StatusBadge tone="good">{t('accounts.active')}</StatusBadge>
  );
}
