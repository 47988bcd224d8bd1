/** A document as pairs of path and value. */
export function fieldsOf(document: unknown, path = ''): [string, string][] {
  if (document === null || document === undefined) return [];
  if (typeof document !== 'object') return [[path, textOf(document)]];
  if (Array.isArray(document) && document.every((each) => typeof each !== 'object'))
    return document.length === 0 ? [] : [[path, document.map(textOf).join(', ')]];
  return Object.entries(document).flatMap(([name, value]) =>
    fieldsOf(value, path === '' ? name : `${path}.${name}`),
  );
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

export interface FieldChange {
  path: string;
  before: string | null;
  after: string | null;
}

/** The differences between two documents; a missing field is null. */
export function changesBetween(before: unknown, after: unknown): FieldChange[] {
  const [old, now] = [new Map(fieldsOf(before)), new Map(fieldsOf(after))];
  return [...new Set([...old.keys(), ...now.keys()])]
    .map((path) => ({ path, before: old.get(path) ?? null, after: now.get(path) ?? null }))
    .filter((change) => change.before !== change.after);
}
