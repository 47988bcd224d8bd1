import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';

/** The pages of a list, as the address has them: back is the browser's. */
export function useAddressPager() {
  const { cursor } = useSearch({ strict: false });
  const navigate = useNavigate();
  const go = (next: string | undefined) =>
    void navigate({ to: '.', search: (before) => ({ ...before, cursor: next }) });
  return { cursor, go };
}

/** Narrows what a page shows. A list starts again at its first page. */
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

/** One name of the address, and how to put another value there; with `replace: false`, back undoes that. */
export function useParam(param: string, options: { replace?: boolean } = {}) {
  const search: Record<string, unknown> = useSearch({ strict: false });
  const set = useFilter(options);
  const value = search[param];
  return {
    value: typeof value === 'string' ? value : undefined,
    set: (next: string | undefined) => set({ [param]: next }),
  };
}

/** What is typed into a field that filters: it follows the address when something else changes that. */
export function useTyped(value: string | undefined) {
  const [typed, type] = useState(value ?? '');
  const [before, setBefore] = useState(value);
  const [sent, send] = useState(value);
  if (value !== before) {
    setBefore(value);
    // More may have been typed since it was sent.
    if (value !== sent) type(value ?? '');
    send(value);
  }
  return { typed, type, send };
}

/** Closes what the address has open under a name. */
export function useClose(param: string): () => void {
  const navigate = useNavigate();
  return () => void navigate({ to: '.', search: (before) => ({ ...before, [param]: undefined }) });
}
