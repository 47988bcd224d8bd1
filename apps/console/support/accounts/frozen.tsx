import { useTranslation } from 'react-i18next';
import { StatusBadge } from '../../ui/status-badge.js';

export function Frozen({ isFrozen }: { isFrozen: boolean }) {
  const { t } = useTranslation('support');
  return (
    <StatusBadge tone={isFrozen ? 'bad' : 'good'}>
      {t(isFrozen ? 'accounts.frozen' : 'accounts.active')}
    </StatusBadge>
  );
}
