/** Keys from the outermost to the innermost. A key may contain dots: models are keys. */
type Path = readonly string[];

interface Field {
  path: Path;
  value: string;
}

/** A document as values with their paths. */
export function fieldsOf(document: unknown, path: Path = []): Field[] {
  if (document === null || document === undefined) return [];
  if (typeof document !== 'object') return [{ path, value: textOf(document) }];
  if (Array.isArray(document) && document.every((each) => typeof each !== 'object'))
    return document.length === 0 ? [] : [{ path, value: document.map(textOf).join(', ') }];
  return Object.entries(document).flatMap(([name, value]) => fieldsOf(value, path.concat(name)));
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

export interface FieldChange {
  path: Path;
  before: string | null;
  after: string | null;
}

/** The differences between two documents; a missing field is null. */
export function changesBetween(before: unknown, after: unknown): FieldChange[] {
  const [old, now] = [byPath(before), byPath(after)];
  return [...new Map([...old, ...now])]
    .map(([key, { path }]) => ({
      path,
      before: old.get(key)?.value ?? null,
      after: now.get(key)?.value ?? null,
    }))
    .filter((change) => change.before !== change.after);
}

function byPath(document: unknown): Map<string, Field> {
  return new Map(fieldsOf(document).map((field) => [JSON.stringify(field.path), field]));
}
