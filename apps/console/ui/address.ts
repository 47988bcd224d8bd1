import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';

/** The cursor of a list is in the address, so that the browser can go back. */
export function useAddressPager() {
  const { cursor } = useSearch({ strict: false });
  const navigate = useNavigate();
  const go = (next: string | undefined) =>
    void navigate({ to: '.', search: (before) => ({ ...before, cursor: next }) });
  return { cursor, go };
}

/** Changes filters in the address, and returns to the first page of a list. */
export function useFilter({ replace = true } = {}): (change: object) => void {
  const navigate = useNavigate();
  return (change) =>
    void navigate({
      to: '.',
      search: (before) => ({ ...before, ...change, cursor: undefined }),
      replace,
      resetScroll: false,
    });
}

/** One search parameter and its setter. With `replace: false`, going back undoes a change. */
export function useParam(param: string, options: { replace?: boolean } = {}) {
  const search: Record<string, unknown> = useSearch({ strict: false });
  const set = useFilter(options);
  const value = search[param];
  return {
    value: typeof value === 'string' ? value : undefined,
    set: (next: string | undefined) => set({ [param]: next }),
  };
}

/** The text of a filter field, which follows the address when something else changes it. */
export function useTyped(value: string | undefined) {
  const [typed, type] = useState(value ?? '');
  const [before, setBefore] = useState(value);
  const [sent, send] = useState(value);
  if (value !== before) {
    setBefore(value);
    // People may have typed more since.
    if (value !== sent) type(value ?? '');
    send(value);
  }
  return { typed, type, send };
}

/** Closes what a search parameter opened. */
export function useClose(param: string): () => void {
  const navigate = useNavigate();
  return () => void navigate({ to: '.', search: (before) => ({ ...before, [param]: undefined }) });
}
