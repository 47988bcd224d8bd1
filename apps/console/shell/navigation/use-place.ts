import { useRouterState } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import type { Shape } from '../../api/client.js';
import { hasPage, listedAt, type Workspace, workspacesOf } from './navigation.js';

/** The current workspace and listed page. A page of two workspaces does not switch between them. */
export function usePlace(session: Shape<'Session'>) {
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const workspaces = useMemo(() => workspacesOf(session), [session]);
  const address = listedAt(workspaces, path);
  const [last, setLast] = useState<Workspace['label']>();
  const here = workspaces.filter(({ links }) => links.some((link) => hasPage(link, address)));
  const before = (here.length > 0 ? here : workspaces).find(({ label }) => label === last);
  const workspace = before ?? here[0] ?? workspaces[0];
  if (workspace && workspace.label !== last) setLast(workspace.label);
  return { workspaces, workspace, address };
}
