import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

/** Messages of the server are in English only. In other languages, the states and amounts beside them say the same. */
export function ServerWords({ children }: { children: ReactNode }) {
  const { i18n } = useTranslation();
  return i18n.language.startsWith('en') ? children : null;
}
