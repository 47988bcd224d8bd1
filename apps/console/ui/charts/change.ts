import { useTranslation } from 'react-i18next';
import { useLocale } from '../locale.js';

/** The relative change; null if there was nothing or a loss before. */
export function useChange(): (now: number, before: number) => string | null {
  const format = new Intl.NumberFormat(useLocale(), {
    style: 'percent',
    maximumFractionDigits: 0,
    signDisplay: 'exceptZero',
  });
  return (now, before) => (before > 0 ? format.format(now / before - 1) : null);
}

/** As a sentence; undefined if there is none. */
export function useChangeText(): (now: number, before: number) => string | undefined {
  const { t } = useTranslation('charts');
  const change = useChange();
  return (now, before) => {
    if (before < 0) return undefined;
    const changed = change(now, before);
    return changed === null ? t('nothingBefore') : t('change', { change: changed });
  };
}
