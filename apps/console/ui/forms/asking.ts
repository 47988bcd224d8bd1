import { createContext, useContext, useEffect } from 'react';

/** The forms in a dialog that asks before it is closed; null outside of one. */
export const AskedForms = createContext<Set<() => boolean> | null>(null);

/** Lets the dialog around a form ask before it is closed. */
export function useAskedBy(isDirty: () => boolean): void {
  const forms = useContext(AskedForms);
  useEffect(() => {
    forms?.add(isDirty);
    return () => void forms?.delete(isDirty);
  }, [forms, isDirty]);
}
