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

/** What the menu of a row offers to copy beside the id of the row, as far as the row has it. */
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
