/** Decimal strings, IDs, times, and words of the API. */
export type SaidParams = Readonly<Record<string, string | null>>;

/** A sentence as a code with its parameters, so that each reader gets it in words. */
export interface Said<Code extends string = string> {
  readonly code: Code;
  readonly params: SaidParams;
}

/** The English sentence of each code, for the command line, downloads and programs. */
export type Sentences = Record<string, (params: SaidParams) => string>;

export function said<Code extends string>(
  code: Code,
  params: Readonly<Record<string, string | number | null>> = {},
): Said<Code> {
  const texts = Object.entries(params).map(([name, value]): [string, string | null] => [
    name,
    value === null ? null : String(value),
  ]);
  return { code, params: Object.fromEntries(texts) };
}
