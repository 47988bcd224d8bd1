import Table from 'cli-table3';
import { type CsvColumn, inSequence, writeCsv } from '#platform/http/csv.js';

process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  // The reader may stop early, as `head` does.
  if (code === 'EPIPE') process.exit(0);
  process.stderr.write(`The output could not be written (${code ?? message}).\n`);
  process.exit(1);
});

/** What commands print: one JSON document for programs, or text for people. */
export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

/** A number of things whose plural ends in s. */
export function countOf(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

export function printText(text: string): void {
  process.stdout.write(`${text}\n`);
}

export interface Printed {
  csv?: boolean;
  json?: boolean;
}

interface List<T> {
  items: readonly T[];
  json: unknown;
  csv?: readonly CsvColumn<T>[];
  table: Columns<T>;
  none?: string;
  /** Whether the list goes on after these items. */
  more?: boolean;
}

export const MORE = 'There are more: raise --limit.';

/** The first of the items, and whether there are more. Read one more than the limit. */
export function firstItems<T>(read: readonly T[], limit: number): { items: T[]; more: boolean } {
  return { items: read.slice(0, limit), more: read.length > limit };
}

export async function printList<T>(
  options: Printed,
  { items, json, csv, table: columns, none, more = false }: List<T>,
): Promise<void> {
  if (options.csv && csv) return writeCsv(process.stdout, csv, inSequence(items));
  if (options.json) return printJson(json);
  printText(items.length === 0 && none !== undefined ? none : tableOf(items, columns));
  if (more) printText(MORE);
}

/** The width that tables fit, in columns: the terminal's, or this one where there is none. */
const WIDTH = 100;
const LEAST_WIDTH = 80;

/** The title of a column. Numbers are right-aligned. */
export type TableColumn = string | { readonly number: string };

/** A column of numbers: its title, or what it shows. */
export function right<const C>(number: C): { readonly number: C } {
  return { number };
}

type Plain = string | number | bigint | null | undefined;
type PlainName<T> = { [Name in keyof T]-?: T[Name] extends Plain ? Name : never }[keyof T];
type Content<T> = PlainName<T> | ((row: T) => Plain);

/** Columns by their title. Each shows a property, or the result of a function; - is for nothing. */
export type Columns<T> = Readonly<Record<string, Content<T> | { readonly number: Content<T> }>>;

export function tableOf<T>(rows: readonly T[], columns: Columns<T>): string {
  const named = Object.entries(columns).map(([title, column]) =>
    typeof column === 'object' ? { title: right(title), content: column.number } : { title, content: column },
  );
  const cells = rows.map((row) => named.map(({ content }) => cellOf(row, content)));
  return table(
    named.map(({ title }) => title),
    cells,
  );
}

function cellOf<T>(row: T, content: Content<T>): string {
  return String((typeof content === 'function' ? content(row) : (row[content] as Plain)) ?? '-');
}

/** A table without colours. A cell too wide for the terminal is cut with an ellipsis. */
export function table(columns: readonly TableColumn[], rows: string[][]): string {
  const titles = columns.map((column) => (typeof column === 'string' ? column : column.number));
  const lines = [titles, ...rows];
  const widths = fittingWidths(lines);
  const isRight = columns.map((column) => typeof column === 'object');
  const parts: string[] = [];
  for (let from = 0; from < lines.length; from += DRAWN_AT_ONCE) {
    const drawn = new Table({
      colAligns: isRight.map((each) => (each ? 'right' : 'left')),
      style: { head: [], border: [], compact: true },
      chars: PLAIN,
    });
    for (const line of lines.slice(from, from + DRAWN_AT_ONCE)) {
      const cells = line.map((cell, at) => shortened(cell, widths[at]!));
      drawn.push(
        cells.map((cell, at) => (isRight[at] ? cell.padStart(widths[at]!) : cell.padEnd(widths[at]!))),
      );
    }
    parts.push(drawn.toString());
  }
  return parts.join('\n');
}

/** The library's work grows with the square of the rows. All parts have the same widths. */
const DRAWN_AT_ONCE = 50;

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

/** Cuts the widest column until a row fits. */
function fittingWidths(rows: readonly string[][]): number[] {
  const widths = rows[0]!.map((_, at) => rows.reduce((most, row) => Math.max(most, row[at]?.length ?? 0), 0));
  const available = Math.max(process.stdout.columns ?? WIDTH, LEAST_WIDTH);
  let excess = widths.reduce((sum, width) => sum + width + PADDING, 0) - available;
  while (excess > 0) {
    const widest = widths.indexOf(Math.max(...widths));
    const cut = Math.min(excess, Math.ceil((widths[widest] ?? 0) / 4));
    widths[widest] = (widths[widest] ?? 0) - cut;
    excess -= cut;
  }
  return widths;
}

function shortened(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, Math.max(width - 1, 1))}…`;
}

/** An ISO 8601 time for people, to the minute. */
export function minute(time: string): string {
  return time.slice(0, 16).replace('T', ' ');
}

export function second(time: string): string {
  return time.slice(0, 19).replace('T', ' ');
}

export function printFacts(pairs: [string, string][]): void {
  printText(facts(pairs));
}

/** A list of names and values, aligned. */
export function facts(pairs: [string, string][]): string {
  const width = Math.max(...pairs.map(([name]) => name.length));
  return pairs.map(([name, value]) => `${name.padEnd(width)}  ${value}`).join('\n');
}
