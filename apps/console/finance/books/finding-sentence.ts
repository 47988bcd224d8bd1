/** Texts that fit a finding, most specific first. */
export function sentenceKeys(control: string, state: string, how: string | null | undefined): string[] {
  const own = `sentences.${control}.${state}`;
  return [`${own}_${how}`, own, `sentences.any.${state}`];
}

type Details = Readonly<Record<string, string | null>>;

function valuesIn(text: string): string[] {
  return [...text.matchAll(/\{\{(\w+)\}\}/g)].map(([, name]) => name!);
}

/** Values that a text needs but the details lack. */
export function lacking(text: string, details: Details): string[] {
  return valuesIn(text).filter((name) => !details[name]);
}

/** Whether a text has the last part of the subject as one of its values. Reports are named by their provider. */
export function isNamed(subject: string, text: string, details: Details): boolean {
  const [kind, ...parts] = subject.split(':');
  const id = kind === 'report' ? parts : parts.slice(-1);
  return valuesIn(text).some((name) => id.some((part) => details[name] === part));
}
