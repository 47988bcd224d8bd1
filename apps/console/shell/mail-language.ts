import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../api/client.js';
import type { Shape } from '../api/shape.js';
import { type Language, setLanguage } from '../i18n/i18n.js';
import { readSessionAgain, useSession } from './session.js';

/** Shows the console in a language from now on; mail to the person who is signed in follows. */
export function useChooseLanguage(): (language: Language) => Promise<void> {
  const session = useSession();
  return async (language) => {
    await setLanguage(language);
    if (mayKeep(session)) await save(language);
  };
}

/** Somebody who never chose a language gets mail in the one that they read here. */
export function useFirstMailLanguage(session: Shape<'Session'> | null): void {
  const { i18n } = useTranslation();
  const isUnknown = mayKeep(session) && session?.language === null;
  useEffect(() => {
    // If it fails, the next page load tries again: until then mail is in English.
    if (isUnknown) save(i18n.language as Language).catch(() => undefined);
  }, [isUnknown, i18n]);
}

/** Not while someone else's account is viewed, nor before a second factor that is asked for. */
function mayKeep(session: Shape<'Session'> | null): boolean {
  return session !== null && session.viewing === null && session.secondFactor !== 'required';
}

async function save(language: Language): Promise<void> {
  await api.PUT('/api/mail-language', { body: { language } });
  await readSessionAgain();
}
