import { Badge, Button, Menu, NavLink } from '@mantine/core';
import { IconCheck, IconSelector } from '@tabler/icons-react';
import { Link, useNavigate } from '@tanstack/react-router';
import { useId } from 'react';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/shape.js';
import { MOST_COUNTED, useCounts } from './counts.js';
import { navigationIcons } from './navigation-icons.js';
import { firstPathOf, hasPage, type NavLinkPlace, type Workspace } from './navigation.js';
import { usePlace } from './use-place.js';

/** The pages of the workspace that somebody is in, and the way to their others. */
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

function Switcher({ workspaces, current }: { workspaces: readonly Workspace[]; current: Workspace }) {
  const { t } = useTranslation('shell');
  const navigate = useNavigate();
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
        {workspaces.map((workspace) => (
          <Menu.Item
            key={workspace.label}
            onClick={() => void navigate({ to: firstPathOf(workspace.links[0]) })}
            rightSection={workspace === current && <IconCheck size={16} aria-hidden />}
          >
            {t(`nav.${workspace.label}`)}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

interface EntryProps {
  link: NavLinkPlace;
  isCurrent: boolean;
  /** How much waits for somebody there. */
  count: number;
}

function Entry({ link, isCurrent, count }: EntryProps) {
  const { t } = useTranslation('shell');
  const waiting = useId();
  const Icon = navigationIcons[link.label];
  return (
    <>
      <Link
        to={firstPathOf(link)}
        // Also on related pages: a link can cover several.
        activeOptions={{ exact: true }}
        activeProps={{}}
        className={isCurrent ? 'nav-link active' : 'nav-link'}
        aria-current={isCurrent ? 'page' : undefined}
        aria-describedby={count > 0 ? waiting : undefined}
      >
        <NavLink
          component="span"
          active={isCurrent}
          label={t(`nav.${link.label}`)}
          leftSection={<Icon size={18} stroke={1.6} aria-hidden />}
          rightSection={
            count > 0 && (
              <Badge size="sm" variant="light" aria-hidden>
                {count < MOST_COUNTED ? count : `${MOST_COUNTED - 1}+`}
              </Badge>
            )
          }
        />
      </Link>
      <span id={waiting} hidden>
        {t('nav.waiting', { count })}
      </span>
    </>
  );
}
