import { useTranslation } from 'react-i18next';
import type { GetAnswer } from '../api/client.js';
import { useLocale } from '../ui/locale.js';

export type System = GetAnswer<'/api/admin/programs'>;

export function useRate(): (perSecond: number) => string {
  const { t } = useTranslation('operator');
  const locale = useLocale();
  return (perSecond) =>
    t('perSecond', { rate: perSecond.toLocaleString(locale, { maximumFractionDigits: 1 }) });
}
