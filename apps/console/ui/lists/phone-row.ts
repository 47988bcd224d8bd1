/** Shown where a row has no value; phones leave it out. */
export const NONE = '–';

/** On a phone a row has two lines: `main` with `side` and the `menu` at its end, and `below` them the rest in small type. */
export type PhonePlace = 'main' | 'side' | 'below' | 'menu' | 'hidden';

interface PlacedColumn {
  id: string;
  align?: 'right';
  isTime?: boolean;
  isMoney?: boolean;
  phone?: PhonePlace;
}

/** The column where people act on a row: never its amount. */
export const ACTIONS = 'do';

/** The column of the row's menu, which is always there and has no visible heading. */
export const MENU = 'menu';

/**
 * Where each column goes on a phone. A row is called by its first column that is neither a time nor a number, and the first
 * amount of money is beside it: other numbers say nothing without their names. Columns that say otherwise go first.
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

/** Lists that open by the time of a row call that column `at`. */
function isTime(column: PlacedColumn): boolean {
  return column.isTime ?? column.id === 'at';
}
