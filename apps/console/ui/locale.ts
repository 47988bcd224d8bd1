import { useTranslation } from 'react-i18next';
import { type Language, languageTags } from '../i18n/i18n.js';

/** The tag of the language that is shown, for Intl. */
export function useLocale(): string {
  return languageTags[useTranslation().i18n.language as Language] ?? 'en';
}

/** Chinese has a space beside numbers, which Intl leaves out before units. */
export function spaced(text: string): string {
  return text.replace(/(\d)(?=\p{Script=Han})/gu, '$1 ');
}
