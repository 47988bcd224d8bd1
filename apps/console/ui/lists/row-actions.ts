import { useCallback } from 'react';
import { useTranslation } from 'react-i18next';
import type { RowAction } from './row-menu.js';

const LABELS = {
  request: 'list.copyRequest',
  charge: 'list.copyCharge',
  task: 'list.copyTask',
  account: 'list.copyAccount',
  topup: 'list.copyTopup',
} as const;

type Copied = { readonly [Name in keyof typeof LABELS]?: string | null };

/** Row menu entries that copy the IDs that a row has. */
export function useCopies(): (ids: Copied) => RowAction[] {
  const { t } = useTranslation('shell');
  return useCallback(
    (ids) =>
      (Object.keys(LABELS) as (keyof Copied)[]).flatMap((name) => {
        const copy = ids[name];
        return copy ? [{ copy, label: t(LABELS[name]) }] : [];
      }),
    [t],
  );
}
