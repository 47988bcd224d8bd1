import { isDeepStrictEqual } from 'node:util';
import { ApiError } from './errors.js';

/**
 * Lists are replaced as a whole, so a change based on an outdated read would undo a newer one. A repeated change is accepted:
 * its fields already have the wanted values.
 * @param wanted the new fields; `was` are the fields as their author read them
 * @throws ApiError conflict
 */
export function requireUnchanged<T extends object>(
  now: T,
  { was = {}, ...wanted }: Partial<T> & { was?: Partial<T> | undefined },
): void {
  for (const [name, read] of Object.entries(was)) {
    const current = inAnyOrder(now[name as keyof T]);
    const fine = [read, (wanted as Partial<T>)[name as keyof T]].map(inAnyOrder);
    if (read === undefined || fine.some((value) => isDeepStrictEqual(value, current))) continue;
    const message = `${name}: changed since you read it. Read it again, and repeat your change.`;
    throw new ApiError('conflict', message, { param: `was.${name}` });
  }
}

/** The order of names in a list has no meaning. */
function inAnyOrder(value: unknown): unknown {
  return Array.isArray(value) ? [...new Set<string>(value)].sort() : value;
}
