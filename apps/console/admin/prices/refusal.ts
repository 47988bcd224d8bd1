import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/client.js';

export type RefusedRow = Shape<'PriceImport'>['refused'][number];

/** Why a row of prices cannot be imported. The server's sentence is shown where there are no words for its code. */
export function useRefusal(): (row: RefusedRow) => string {
  const { t } = useTranslation('prices');
  return ({ code, params, reason }) => t(`refusals.${code}`, { ...params, defaultValue: reason });
}
