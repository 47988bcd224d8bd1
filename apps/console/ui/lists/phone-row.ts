/** Shown for a missing value; phones leave it out. */
export const NONE = '–';

/** On phones a row has two lines: `main`, `side` and `menu`, and `below` them the rest in small type. */
export type PhonePlace = 'main' | 'side' | 'below' | 'menu' | 'hidden';

interface PlacedColumn {
  id: string;
  align?: 'right';
  isTime?: boolean;
  isMoney?: boolean;
  phone?: PhonePlace;
}

/** The column of a row's buttons, which is never its amount. */
export const ACTIONS = 'do';

/** The column of the row menu, which is always shown and has no visible heading. */
export const MENU = 'menu';

/**
 * Where each column goes on a phone. A row's title is its first column that is neither a time nor a number, and its first
 * amount is beside that: other numbers mean nothing without their names. Columns may override this.
 */
export function phonePlaces(columns: readonly PlacedColumn[]): ReadonlyMap<string, PhonePlace> {
  const main =
    columns.find(({ phone }) => phone === 'main') ??
    columns.find((column) => column.phone === undefined && column.align !== 'right' && !isTime(column)) ??
    columns[0];
  const open = columns.filter((column) => column !== main && column.phone === undefined);
  const side = columns.find(({ phone }) => phone === 'side') ?? open.find(({ isMoney }) => isMoney);
  return new Map(columns.map((column) => [column.id, placeOf(column, main, side)]));
}

function placeOf(column: PlacedColumn, main?: PlacedColumn, side?: PlacedColumn): PhonePlace {
  if (column === main) return 'main';
  if (column === side) return 'side';
  return column.phone === 'hidden' || column.phone === 'menu' ? column.phone : 'below';
}

/** Lists whose rows open by their time call that column `at`. */
function isTime(column: PlacedColumn): boolean {
  return column.isTime ?? column.id === 'at';
}
