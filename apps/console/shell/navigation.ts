import type { Icon } from '@tabler/icons-react';
import type { UserRole } from './session.js';
import type shell from '../i18n/en/shell.json';

/** An entry of the navigation, listed by the area that has the page. */
export interface NavEntry {
  to: string;
  /** The text `nav.…` of the namespace shell. */
  label: keyof (typeof shell)['nav'];
  icon: Icon;
  roles: readonly UserRole[];
  /** Of no use to support who look at a customer's account: it changes something, or is about the person who looks. */
  isOwn?: true;
}

export interface NavGroup {
  /** The text `nav.…` above the entries; staff see several groups. */
  label: keyof (typeof shell)['nav'];
  entries: readonly NavEntry[];
}
