/** A small fault to be planted, and the spec that must find it. */
export interface Mutant {
  readonly id: string;
  /** What goes wrong with it. */
  readonly fault: string;
  readonly file: string;
  /** What is replaced: it occurs once in the file. */
  readonly text: string;
  readonly instead: string;
  readonly spec: string;
  /** A part of the names of the tests that have to find it; all of the spec when left out. */
  readonly test?: string;
}

/** The text of a file with the fault in it. @throws Error when its place is not there, or is not the only one */
export function withFault(source: string, { id, file, text, instead }: Mutant): string {
  const parts = source.split(text);
  if (parts.length !== 2)
    throw new Error(`${id}: its text occurs ${parts.length - 1} times in ${file}, not once`);
  return parts.join(instead);
}
