import { useTranslation } from 'react-i18next';
import { type Language, languageTags } from '../i18n/i18n.js';

/** The current language as a tag for Intl. */
export function useLocale(): string {
  return languageTags[useTranslation().i18n.language as Language] ?? 'en';
}

/** Adds the space between numbers and Chinese units that Intl leaves out. */
export function spaced(text: string): string {
  return text.replace(/(\d)(?=\p{Script=Han})/gu, '$1 ');
}
