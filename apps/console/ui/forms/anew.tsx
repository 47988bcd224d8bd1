import { Fragment, type ReactNode, useReducer } from 'react';
import type { ApiFailure } from '../../api/failure.js';
import { notifyFailure } from '../../shell/notices.js';

/** For a form that keeps the values it opened with: after `begin`, another one opens with what is in force. */
export function Anew({ children }: { children: (begin: () => void) => ReactNode }) {
  const [times, begin] = useReducer((count: number) => count + 1, 0);
  return <Fragment key={times}>{children(begin)}</Fragment>;
}

/** The form begins anew with what others changed, so the refusal appears as a notice. */
export function anewAfterConflict(
  reread: () => Promise<void>,
  begin: () => void,
): (failure: ApiFailure) => boolean {
  return (failure) => {
    if (failure.code !== 'conflict') return false;
    notifyFailure(failure);
    void reread().then(begin);
    return true;
  };
}
