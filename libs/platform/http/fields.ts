import { z } from 'zod';
import { type AmountText, formatAmount, type Nanos, parseAmount } from '#money/amount.js';
import { isDay, isInstant, isoInstant, TIMES } from '../times.js';

/** An id of ours: a lower-case ULID. */
export const id = z.string().regex(/^[0-9a-z]{26}$/, 'must be an id of 26 characters');

/** Why somebody decides something, in their words. */
export const reasonText = z
  .string()
  .trim()
  .min(3, 'must say why')
  .max(500, 'must have at most 500 characters')
  .refine(isVisible, 'must say why');

/** What a change was made from. */
export const asRead = <T extends z.ZodType>(fields: T) =>
  fields
    .optional()
    .describe(
      'The fields as you read them. If one has changed since, the answer is 409 `conflict` and nothing changes: read again, and repeat your change.',
    );

/** Credits in a request, a decimal string such as "5" or "0.02"; nanos in code. */
export const creditAmount = z
  .string()
  .regex(/^\d{1,9}(\.\d{1,9})?$/, 'must be a decimal string with at most 9 decimals, such as "0.02"')
  .transform((text): Nanos => parseAmount(text))
  .meta({ description: 'Credits, as a decimal string.', examples: ['0.02'] });

/** Shapes of answers take a bigint or a Date from the code, and produce what the client reads. Text stays unchanged. */

/** Credits in an answer: nanos, or the result of `formatAmount`. Other text could be nanos, read as dollars. */
export const amountView = z
  .union([z.bigint().transform(formatAmount), z.custom<AmountText>((value) => typeof value === 'string')])
  .pipe(z.string() as unknown as z.ZodType<AmountText, AmountText>)
  .meta({ description: 'Credits, as a decimal string.', examples: ['0.02'] });

export function viewAmount(value: Nanos | bigint): AmountText {
  return formatAmount(value);
}

/** A time in an answer: ISO 8601 in UTC. Ledger times have microseconds, so its rows have them as text. */
export const timeView = z
  .union([z.date(), z.string()])
  .transform((value) => (typeof value === 'string' ? isoInstant(value) : value.toISOString()))
  .pipe(z.iso.datetime())
  .describe('ISO 8601, UTC.');

/** A time that may be open: the database writes `infinity` or `-infinity` for none. */
export const openTimeView = z
  .union([z.date(), z.string(), z.null()])
  .transform((value) => (typeof value === 'string' && value.endsWith('infinity') ? null : value))
  .pipe(timeView.nullable());

/** A number that JSON would truncate, such as the id of a ledger transaction, as text. */
export const numberText = z.union([z.bigint(), z.string()]).transform(String).pipe(z.string());

/** The same for a whole number that people read. */
export const wholeText = numberText.meta({ description: 'A whole number.', examples: ['12'] });

/** A count from the database in an answer. */
export const countView = z.union([z.bigint(), z.number()]).transform(Number).pipe(z.int());

/** A time in a request, kept as text, because ledger times have microseconds, which a Date lacks. */
export const exactTime = z.iso
  .datetime({ offset: true, message: 'must be a time such as 2026-01-31T00:00:00.123456Z' })
  .refine(isInstant, `must be a time ${TIMES}, with an offset of at most 14 hours`);

/** The same as a Date. */
export const time = exactTime.transform((text) => new Date(text));

/** A day in a request. */
export const day = z.iso
  .date({ message: 'must be a day such as 2026-01-31' })
  .refine(isDay, `must be a day ${TIMES}`);

export const utcDay = day.meta({ description: 'A UTC day.', examples: ['2026-01-31'] });

/**
 * The name of a time zone as browsers report it. Offsets are refused: PostgreSQL and browsers read their signs differently.
 */
export const timeZone = z
  .string()
  .max(64)
  .regex(/^[A-Za-z][A-Za-z0-9_+/-]*$/, 'must be a time zone such as Europe/Berlin')
  .refine(isTimeZone, 'must be a time zone such as Europe/Berlin');

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name }).format();
    return true;
  } catch {
    return false;
  }
}

/** True or false in the query of a request; false if omitted. */
export function queryFlag(description: string) {
  return z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true')
    .meta({ description });
}

/**
 * One line of text. What turns its order around is refused like a line break: a stranger's text could change what staff read
 * beside it.
 */
export const ONE_LINE =
  // oxlint-disable-next-line no-control-regex -- control characters are what is refused
  /^[^\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]*$/;

/** Whether a text has a visible character. Text of blanks, fillers and lone combining marks looks empty. */
export function isVisible(text: string): boolean {
  return /(?![\p{Default_Ignorable_Code_Point}\u2800\u{1d159}])[\p{L}\p{N}\p{P}\p{S}]/u.test(text);
}

/** Text with at least one visible character. */
export const visibleText = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .refine((text) => text === '' || isVisible(text), 'must have a visible character');

/** The same, on one line. */
export const visibleLine = visibleText.regex(ONE_LINE, 'must be one line without control characters');

/** One line for lists. */
export const name = visibleLine.max(100, 'must have at most 100 characters');

const LARGEST_PAGE = 200;

/** The query of a list: newest first, and the cursor of the previous page. */
export const pageQuery = {
  limit: z.coerce.number().int().min(1).max(LARGEST_PAGE).default(50),
  cursor: z.string().max(200).optional(),
};

/** A page of a list; `nextCursor` is null on the last one. */
export function pageOf<T extends z.ZodType>(item: T) {
  return z.object({ items: z.array(item), nextCursor: z.string().nullable() });
}

/**
 * What the database has for the shape of an answer: whole numbers and amounts as bigint, and times as text, which has microseconds,
 * or as Date.
 */
export type RowOf<S extends z.ZodType, Time extends string | Date = string> = {
  -readonly [Name in keyof z.input<S>]: Stored<z.input<S>[Name], Time>;
};
type Stored<V, Time> = [V] extends [readonly (infer Item)[]] ? StoredOne<Item, Time>[] : StoredOne<V, Time>;
type StoredOne<V, Time> = unknown extends V
  ? V
  : bigint extends V
    ? bigint | Extract<V, null>
    : Date extends V
      ? Time | Extract<V, null>
      : V;

/** What a client reads of a value, in the shape of an answer. */
export function shown<S extends z.ZodType>(shape: S, value: z.input<S>): z.output<S> {
  return shape.parse(value);
}

/**
 * One of these words of an answer. Words of a later version pass as well, because programs of two versions run side by side during
 * an upgrade.
 */
export function wordView<const W extends string>(words: readonly W[]) {
  return z.string().meta({ enum: [...words] }) as unknown as z.ZodType<W, W>;
}

/** A sentence as a code with its parameters. */
export function saidFields<const W extends string>(codes: readonly W[]) {
  return {
    code: wordView(codes),
    params: z
      .record(z.string(), z.string().nullable())
      .describe('Decimal strings, IDs, times and words of the API.'),
  };
}

/** A row of a file that cannot be imported. */
export function refusedRowView<const W extends string>(codes: readonly W[]) {
  return z.object({
    line: z.int(),
    ...saidFields(codes),
    reason: z.string().describe('The same in English.'),
  });
}

/** Chosen by the client for each thing it wants done once. A repeat gives the same answer. */
export const requestIdField = z
  .string()
  .regex(/^[\x21-\x7e]{8,100}$/, 'must be 8 to 100 printable characters without blanks, such as a UUID')
  .describe('Chosen by the client. Repeating it returns the same answer without doing anything again.');
