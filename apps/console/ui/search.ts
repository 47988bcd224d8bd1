import { GROUP_NAME, ID, MODEL_NAME } from './patterns.js';

/** The state of lists lies in the address, as plain `?name=value`, so that it can be shared and gone back to. */

type Reader<T> = (value: string | undefined) => T | undefined;

/**
 * What a page reads of its address; a value that makes no sense is as if it were not there. It is named nevertheless: what is not
 * named, the router takes from the address as it is.
 */
export function searchOf<Fields extends Record<string, Reader<unknown>>>(fields: Fields) {
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

/** Whether the address leaves any of these filters out of "all". */
export function isNarrowed(filters: object): boolean {
  return Object.values(filters).some((value) => value !== undefined);
}

const LONGEST = 300;

/** Any text that was typed. */
export const anyText: Reader<string> = (value) => value?.slice(0, LONGEST) || undefined;

/** What servers refuse leaves a list without any rows, so only what can be a name of the sort is asked for. */
function shaped(pattern: RegExp): Reader<string> {
  return (value) => (value !== undefined && pattern.test(value) ? value : undefined);
}

/** The id of a key, an account or the like. */
export const anyId = shaped(ID);

export const anyModel = shaped(MODEL_NAME);

export const anyGroup = shaped(GROUP_NAME);

/** Where a page of a list begins: the server's `nextCursor` of the page before. */
export const cursor: Reader<string> = (value) => anyText(value);

/** A UTC day such as 2026-01-31. A day that no month has would fail wherever it is counted with. */
export const anyDay: Reader<string> = (value) =>
  value && /^\d{4}-\d\d-\d\d$/.test(value) && isoOf(value)?.startsWith(value) ? value : undefined;

/** A moment such as 2026-01-31T09:00:00.000Z. */
export const anyTime: Reader<string> = (value) =>
  value && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value) && isoOf(value) ? value : undefined;

function isoOf(text: string): string | undefined {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
}

/** One of some words. */
export function oneOf<const Word extends string>(...words: readonly Word[]): Reader<Word> {
  return (value) => words.find((word) => word === value);
}

/** A path of this console to go to afterwards; an address of another site is none. */
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
