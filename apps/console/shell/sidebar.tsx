import { AppShell, NavLink, ScrollArea, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useId } from 'react';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../api/shape.js';
import { pages } from '../pages/pages.js';
import { isListed, navigationOf, type NavGroup } from './navigation.js';

/** The pages that the roles of the user open. What a role may not see is not listed. */
export function Navigation({ session }: { session: Shape<'Session'> }) {
  const { t } = useTranslation('shell');
  const groups = navigationOf(pages)
    .map((group) => ({ ...group, entries: group.entries.filter((entry) => isListed(entry, session)) }))
    .filter(({ entries }) => entries.length > 0);
  return (
    <AppShell.Navbar p="xs" aria-label={t('nav.pages')}>
      <ScrollArea type="auto" scrollbarSize={6}>
        {groups.map((group) => (
          <Entries key={group.label} group={group} isOnly={groups.length === 1} />
        ))}
      </ScrollArea>
    </AppShell.Navbar>
  );
}

function Entries({ group, isOnly }: { group: NavGroup; isOnly: boolean }) {
  const { t } = useTranslation('shell');
  const heading = useId();
  return (
    <div role="group" aria-labelledby={heading}>
      <Text
        id={heading}
        size="xs"
        fw={600}
        c="dimmed"
        px="sm"
        pt="sm"
        className={isOnly ? 'visually-hidden' : ''}
      >
        {t(`nav.${group.label}`)}
      </Text>
      {group.entries.map(({ to, label, icon: Icon }) => (
        <Link key={to} to={to} className="nav-link">
          {({ isActive }) => (
            <NavLink
              component="span"
              active={isActive}
              label={t(`nav.${label}`)}
              leftSection={<Icon size={18} stroke={1.6} aria-hidden />}
            />
          )}
        </Link>
      ))}
    </div>
  );
}
