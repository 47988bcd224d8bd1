/** The texts that can say a finding, the most particular one first. */
export function sentenceKeys(control: string, state: string, how: string | null | undefined): string[] {
  const own = `sentences.${control}.${state}`;
  return [`${own}_${how}`, own, `sentences.any.${state}`];
}

/** The values that a text needs and that the details do not have. */
export function lacking(text: string, details: Readonly<Record<string, string | null>>): string[] {
  return [...text.matchAll(/\{\{(\w+)\}\}/g)].map(([, name]) => name!).filter((name) => !details[name]);
}

/** Whether the words have the last part of the subject as a word of its own. */
export function isNamed(subject: string, words: string): boolean {
  const name = subject.split(':').at(-1)!;
  return words.split(/[^\w.,:/@+=#-]+/).some((word) => word.replace(/[.,:]+$/, '') === name);
}
