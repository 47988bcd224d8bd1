/** A small fault to plant, and the spec that must find it. */
export interface Mutant {
  readonly id: string;
  /** The effect of the fault. */
  readonly fault: string;
  readonly file: string;
  /** The code to replace, which occurs once in the file. */
  readonly text: string;
  readonly instead: string;
  readonly spec: string;
  /** Part of the names of the tests that have to find it. If omitted, the whole spec. */
  readonly test?: string;
}

/** The file's content with the fault. @throws Error if the text to replace is missing or not unique */
export function withFault(source: string, { id, file, text, instead }: Mutant): string {
  const parts = source.split(text);
  if (parts.length !== 2)
    throw new Error(`${id}: its text occurs ${parts.length - 1} times in ${file}, not once`);
  return parts.join(instead);
}
