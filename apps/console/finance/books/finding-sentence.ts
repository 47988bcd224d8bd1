/** Texts that fit a finding, most specific first. */
export function sentenceKeys(control: string, state: string, how: string | null | undefined): string[] {
  const own = `sentences.${control}.${state}`;
  return [`${own}_${how}`, own, `sentences.any.${state}`];
}

/** Values that a text needs but the details lack. */
export function lacking(text: string, details: Readonly<Record<string, string | null>>): string[] {
  return [...text.matchAll(/\{\{(\w+)\}\}/g)].map(([, name]) => name!).filter((name) => !details[name]);
}

/** Whether the words mention the last part of the subject. */
export function isNamed(subject: string, words: string): boolean {
  const name = subject.split(':').at(-1)!;
  return words.split(/[^\w.,:/@+=#-]+/).some((word) => word.replace(/[.,:]+$/, '') === name);
}
