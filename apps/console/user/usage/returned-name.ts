import { useTranslation } from 'react-i18next';
import { signOf } from '../../ui/decimal.js';

/** "Refunded" if nothing was charged, otherwise "released" for the unused part. */
export function useReturnedName(): (work: { settled: string | null; released: string | null }) => string {
  const { t } = useTranslation('calls');
  return ({ settled, released }) => {
    const isRefunded = released !== null && (settled === null || signOf(settled) === 0);
    return isRefunded ? t('chargeStates.released') : t('task.released');
  };
}
