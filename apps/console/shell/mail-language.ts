import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { api, type Shape } from '../api/client.js';
import { type Language, setLanguage } from '../i18n/i18n.js';
import { readSessionAgain, useSession } from './session.js';

/** Changes the language of the console, and of mail to the signed-in user. */
export function useChooseLanguage(): (language: Language) => Promise<void> {
  const session = useSession();
  return async (language) => {
    await setLanguage(language);
    if (mayKeep(session)) await save(language);
  };
}

/** Sets the mail language of people who never chose one to the language of the console. */
export function useFirstMailLanguage(session: Shape<'Session'> | null): void {
  const { i18n } = useTranslation();
  const isUnknown = mayKeep(session) && session?.language === null;
  useEffect(() => {
    // If this fails, the next page load tries again.
    if (isUnknown) save(i18n.language as Language).catch(() => undefined);
  }, [isUnknown, i18n]);
}

/** Not while viewing another account, nor before a required second factor. */
function mayKeep(session: Shape<'Session'> | null): boolean {
  return session !== null && session.viewing === null && session.secondFactor !== 'required';
}

async function save(language: Language): Promise<void> {
  await api.PUT('/api/mail-language', { body: { language } });
  await readSessionAgain();
}
