import { OperatorError } from '#platform/errors.js';
import { isTransient } from './database.js';

/** A sentence for an operator, if the problem is theirs to fix; otherwise undefined. */
export function operatorSentence(error: unknown): string | undefined {
  if (error instanceof OperatorError) return error.message;
  if (isTransient(error)) return `The database cannot be reached: ${(error as Error).message}.`;
  const { code } = error as { code?: string };
  if (code === '28P01' || code === '28000')
    return `The database refuses the login: ${(error as Error).message}.`;
  if (code === '3D000') return `The database does not exist: ${(error as Error).message}.`;
  return undefined;
}
