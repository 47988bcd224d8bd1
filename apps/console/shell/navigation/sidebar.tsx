import { NavLink, Text } from '@mantine/core';
import { Link, useRouter } from '@tanstack/react-router';
import { useId } from 'react';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/shape.js';
import { navigationIcons } from './navigation-icons.js';
import { isListed, navigationOf, type NavGroup } from './navigation.js';

/** The pages that the roles of the user open. What a role may not see is not listed. */
export function Sidebar({ session }: { session: Shape<'Session'> }) {
  const groups = navigationOf(useRouter().routeTree)
    .map((group) => ({ ...group, entries: group.entries.filter((entry) => isListed(entry, session)) }))
    .filter(({ entries }) => entries.length > 0);
  return (
    <>
      {groups.map((group) => (
        <Entries key={group.label} group={group} isOnly={groups.length === 1} />
      ))}
    </>
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
      {group.entries.map(({ to, label }) => (
        <Entry key={to} to={to} label={label} />
      ))}
    </div>
  );
}

function Entry({ to, label }: Pick<NavGroup['entries'][number], 'to' | 'label'>) {
  const { t } = useTranslation('shell');
  const Icon = navigationIcons[label];
  return (
    <Link to={to} className="nav-link">
      {({ isActive }) => (
        <NavLink
          component="span"
          active={isActive}
          label={t(`nav.${label}`)}
          leftSection={<Icon size={18} stroke={1.6} aria-hidden />}
        />
      )}
    </Link>
  );
}
