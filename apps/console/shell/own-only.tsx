import type { ReactNode } from 'react';
import { useIsViewing } from './session.js';

/** What only the owner of an account can do: support who view it are offered nothing that the server refuses. */
export function OwnOnly({ children }: { children: ReactNode }) {
  return useIsViewing() ? null : children;
}
