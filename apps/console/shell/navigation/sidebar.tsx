import { Badge, Button, Menu, NavLink } from '@mantine/core';
import { IconCheck, IconSelector } from '@tabler/icons-react';
import { Link, useNavigate } from '@tanstack/react-router';
import { useId } from 'react';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/client.js';
import { MOST_COUNTED, useCounts } from './counts.js';
import { navigationIcons } from './navigation-icons.js';
import { firstPathOf, hasPage, type NavLinkPlace, type Workspace } from './navigation.js';
import { usePlace } from './use-place.js';

/** The pages of the current workspace, and a switch to the others. */
export function Sidebar({ session }: { session: Shape<'Session'> }) {
  const { workspaces, workspace, address } = usePlace(session);
  const counts = useCounts(workspace?.label);
  if (!workspace) return null;
  return (
    <>
      {workspaces.length > 1 && <Switcher workspaces={workspaces} current={workspace} />}
      {workspace.links
        .filter(({ isInMenu }) => !isInMenu)
        .map((link) => (
          <Entry
            key={link.label}
            link={link}
            isCurrent={hasPage(link, address)}
            count={counts[link.label] ?? 0}
          />
        ))}
    </>
  );
}

interface SwitcherProps {
  workspaces: readonly Workspace[];
  current: Workspace;
}

function Switcher({ workspaces, current }: SwitcherProps) {
  const { t } = useTranslation('shell');
  const name = t(`nav.${current.label}`);
  return (
    <Menu position="bottom-start" width="target">
      <Menu.Target>
        <Button
          variant="default"
          fullWidth
          justify="space-between"
          mb="xs"
          rightSection={<IconSelector size={16} aria-hidden />}
          aria-label={t('nav.workspace', { name })}
        >
          {name}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Choices workspaces={workspaces} current={current} />
      </Menu.Dropdown>
    </Menu>
  );
}

function Choices({ workspaces, current }: SwitcherProps) {
  const { t } = useTranslation('shell');
  const navigate = useNavigate();
  return workspaces.map((workspace) => (
    <Menu.Item
      key={workspace.label}
      onClick={() => void navigate({ to: firstPathOf(workspace.links[0]) })}
      rightSection={workspace === current && <IconCheck size={16} aria-hidden />}
    >
      {t(`nav.${workspace.label}`)}
    </Menu.Item>
  ));
}

interface EntryProps {
  link: NavLinkPlace;
  isCurrent: boolean;
  /** How much work waits there. */
  count: number;
}

function Entry({ link, isCurrent, count }: EntryProps) {
  const { t } = useTranslation('shell');
  const waiting = useId();
  return (
    <>
      <Link
        to={firstPathOf(link)}
        // The router compares exactly; `isCurrent` includes related pages.
        activeOptions={{ exact: true }}
        activeProps={{}}
        className={isCurrent ? 'nav-link active' : 'nav-link'}
        aria-current={isCurrent ? 'page' : undefined}
        aria-describedby={count > 0 ? waiting : undefined}
      >
        <EntryLabel label={link.label} isCurrent={isCurrent} count={count} />
      </Link>
      <span id={waiting} hidden>
        {t('nav.waiting', { count })}
      </span>
    </>
  );
}

function EntryLabel({ label, isCurrent, count }: Omit<EntryProps, 'link'> & Pick<NavLinkPlace, 'label'>) {
  const { t } = useTranslation('shell');
  const Icon = navigationIcons[label];
  const badge = count > 0 && (
    <Badge size="sm" variant="light" aria-hidden>
      {count < MOST_COUNTED ? count : `${MOST_COUNTED - 1}+`}
    </Badge>
  );
  return (
    <NavLink
      component="span"
      active={isCurrent}
      label={t(`nav.${label}`)}
      leftSection={<Icon size={18} stroke={1.6} aria-hidden />}
      rightSection={badge}
    />
  );
}
