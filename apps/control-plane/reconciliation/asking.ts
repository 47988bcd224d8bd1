import type { Asking } from '#payments/finance-credit.js';

/** Whatever is asked for here can be asked for again: what it did is found by its own ids. */
export function asking({ actor, requestId }: { actor: Asking['actor']; requestId: string }): Asking {
  return { actor, requestId, auditId: requestId };
}
