import { useBlocker } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { useAskedBy } from './asking.js';

const LeaveDialog = lazy(() => import('./leave-dialog.js'));

type Search = Record<string, unknown>;

interface LeaveGuardProps {
  isDirty: () => boolean;
  /** What would be lost, if it was not entered here. */
  about?: string;
  /** What in the address fills the form: with another value, it would begin anew. */
  filledBy?: (search: Search) => unknown;
}

/** Asks before unsent input is lost by leaving the page, closing the browser's tab, or closing the dialog around it. */
export function LeaveGuard({ isDirty, about, filledBy }: LeaveGuardProps) {
  useAskedBy(isDirty);
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => isDirty() && leaves(current, next, filledBy),
    enableBeforeUnload: isDirty,
    withResolver: true,
  });
  if (blocker.status !== 'blocked') return null;
  return (
    <Suspense>
      <LeaveDialog about={about} stay={blocker.reset} leave={blocker.proceed} />
    </Suspense>
  );
}

interface Place {
  pathname: string;
  search: Search;
}

const OPENS_FORM = ['new', 'key', 'model', 'group', 'person', 'line', 'approval'];

/** Other search parameters are filters of the same page. */
function leaves(current: Place, next: Place, filledBy: LeaveGuardProps['filledBy']): boolean {
  if (current.pathname !== next.pathname || current.search['tab'] !== next.search['tab']) return true;
  if (filledBy) return filledBy(current.search) !== filledBy(next.search);
  return OPENS_FORM.some(
    (name) => current.search[name] !== undefined && next.search[name] !== current.search[name],
  );
}
