import type { ReactNode } from 'react';
import { useIsViewing } from './session.js';

/** Actions for the owner of an account. Support cannot use them, so they are hidden from it. */
export function OwnOnly({ children }: { children: ReactNode }) {
  return useIsViewing() ? null : children;
}
