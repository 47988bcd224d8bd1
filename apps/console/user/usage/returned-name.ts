import { useTranslation } from 'react-i18next';
import { signOf } from '../../ui/decimal.js';

/** What came back of a hold is called: refunded where nothing was charged, else released, as the unused part. */
export function useReturnedName(): (work: { settled: string | null; released: string | null }) => string {
  const { t } = useTranslation('calls');
  return ({ settled, released }) => {
    const isRefunded = released !== null && (settled === null || signOf(settled) === 0);
    return isRefunded ? t('chargeStates.released') : t('task.released');
  };
}
