/** What a row's menu copies, and the text for that. */
export const COPIES = {
  id: 'list.copyId',
  reference: 'list.copyReference',
  request: 'list.copyRequest',
  charge: 'list.copyCharge',
  task: 'list.copyTask',
  account: 'list.copyAccount',
  topup: 'list.copyTopup',
} as const;

type Copied = keyof typeof COPIES;

export type RowAction =
  /** Copies the row's id unless it says what else. */
  | { copy: string; of?: Copied }
  /** Shows only rows like this one; `what` says which, such as a model's name. By default, those of its account. */
  | { only: object; what?: string };

/** Row menu entries that copy the IDs that a row has. */
export function copies(ids: { readonly [Name in Copied]?: string | null }): RowAction[] {
  return (Object.keys(COPIES) as Copied[]).flatMap((of) => {
    const copy = ids[of];
    return copy ? [{ copy, of }] : [];
  });
}

/** Row menu entries for an account: copy its ID, or show only its rows. */
export function accountActions(accountId: string): RowAction[] {
  return [{ copy: accountId, of: 'account' }, { only: { accountId } }];
}
