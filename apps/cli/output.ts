import Table from 'cli-table3';

/** What commands print: one JSON document for programs, or text for people. */
export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

export function printText(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** The terminal width that tables fit, in columns. */
const WIDTH = 100;

/** The title of a column. Numbers are right-aligned. */
export type TableColumn = string | { readonly number: string };

/** A column of numbers. */
export function right(number: string): TableColumn {
  return { number };
}

/** A table without colours. A cell too wide for the terminal is cut with an ellipsis. */
export function table(columns: readonly TableColumn[], rows: string[][]): string {
  const titles = columns.map((column) => (typeof column === 'string' ? column : column.number));
  const drawn = new Table({
    head: titles,
    colAligns: columns.map((column) => (typeof column === 'string' ? 'left' : 'right')),
    style: { head: [], border: [], compact: true },
    chars: PLAIN,
  });
  drawn.push(...fitted(titles, rows));
  return drawn.toString();
}

const PLAIN = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '',
};

/** Each cell has a space on both sides. */
const PADDING = 2;

/** Cuts the widest column until the row fits. */
function fitted(titles: string[], rows: string[][]): string[][] {
  const widths = titles.map((title, at) =>
    Math.max(title.length, ...rows.map((row) => row[at]?.length ?? 0)),
  );
  let excess = widths.reduce((sum, width) => sum + width + PADDING, 0) - WIDTH;
  while (excess > 0) {
    const widest = widths.indexOf(Math.max(...widths));
    const cut = Math.min(excess, Math.ceil((widths[widest] ?? 0) / 4));
    widths[widest] = (widths[widest] ?? 0) - cut;
    excess -= cut;
  }
  return rows.map((row) => row.map((cell, at) => shortened(cell, widths[at] ?? cell.length)));
}

function shortened(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, Math.max(width - 1, 1))}…`;
}

/** A list of names and values, aligned. */
export function facts(pairs: [string, string][]): string {
  const width = Math.max(...pairs.map(([name]) => name.length));
  return pairs.map(([name, value]) => `${name.padEnd(width)}  ${value}`).join('\n');
}
