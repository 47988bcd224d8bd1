import { createContext, useContext, useEffect, useEffectEvent } from 'react';

interface Asked {
  /** Each tells whether it has unsent input. */
  forms: Set<() => boolean>;
  /** Called when one of them may have been sent. */
  look: () => void;
}

/** The forms in a dialog that asks before it is closed; null outside of one. */
export const AskedForms = createContext<Asked | null>(null);

/** Lets the dialog around a form ask before it is closed. */
export function useAskedBy(isDirty: () => boolean): void {
  const asked = useContext(AskedForms);
  const isDirtyNow = useEffectEvent(isDirty);
  useEffect(() => {
    if (asked === null) return undefined;
    const form = () => isDirtyNow();
    asked.forms.add(form);
    return () => {
      asked.forms.delete(form);
      asked.look();
    };
  }, [asked]);
  useEffect(() => asked?.look());
}
