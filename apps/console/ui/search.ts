import { GROUP_NAME, ID, MODEL_NAME } from './patterns.js';

/** The state of lists is in the address as `?name=value`, so that it can be shared and survives going back. */

type Reader<T> = (value: string | undefined) => T | undefined;

export type Readers = Record<string, Reader<unknown>>;

/** What a page's search parameters can be. */
export type SearchOf<Fields extends Readers> = {
  [Name in keyof Fields]?: ReturnType<Fields[Name]>;
};

/** Reads a page's search parameters. Invalid values become undefined but stay listed, or the router would keep them. */
export function searchOf<Fields extends Readers>(fields: Fields) {
  type Search = { [Name in keyof Fields]?: NonNullable<ReturnType<Fields[Name]>> };
  return (given: Record<string, unknown>): Search => {
    const read = Object.entries(fields).flatMap(([name, reader]) => {
      const value = given[name];
      const known = reader(typeof value === 'string' ? value : undefined);
      return known === undefined && value === undefined ? [] : [[name, known] as const];
    });
    return Object.fromEntries(read) as Search;
  };
}

/** Whether any of these filters is set. */
export function isNarrowed(filters: object): boolean {
  return Object.values(filters).some((value) => value !== undefined);
}

const LONGEST = 300;

/** Any text. */
export const anyText: Reader<string> = (value) => value?.slice(0, LONGEST) || undefined;

/** Text of a given form; the server would refuse anything else. */
function shaped(pattern: RegExp): Reader<string> {
  return (value) => (value !== undefined && pattern.test(value) ? value : undefined);
}

export const anyId = shaped(ID);

export const anyModel = shaped(MODEL_NAME);

export const anyGroup = shaped(GROUP_NAME);

/** Where a page of a list starts: the `nextCursor` of the page before. */
export const cursor: Reader<string> = (value) => anyText(value);

/** A UTC day such as 2026-01-31, if the calendar has it. */
export const anyDay: Reader<string> = (value) =>
  value && /^\d{4}-\d\d-\d\d$/.test(value) && isoOf(value)?.startsWith(value) ? value : undefined;

/** A moment such as 2026-01-31T09:00:00.000Z. */
export const anyTime: Reader<string> = (value) =>
  value && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value) && isoOf(value) ? value : undefined;

function isoOf(text: string): string | undefined {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
}

export function oneOf<const Word extends string>(...words: readonly Word[]): Reader<Word> {
  return (value) => words.find((word) => word === value);
}

/** A path within this console, never an address of another site. */
export const ownPath: Reader<string> = (value) =>
  value && /^\/(?![/\\])/.test(value) ? value.slice(0, 2_000) : undefined;

export function parseSearch(search: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(search));
}

export function stringifySearch(search: Record<string, unknown>): string {
  const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== '');
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text && `?${text}`;
}
