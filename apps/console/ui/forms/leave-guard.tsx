import { useBlocker } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { useAskedBy } from './asking.js';

const LeaveDialog = lazy(() => import('./leave-dialog.js'));

/** Asks before unsent input is lost by leaving the page, closing the browser's tab, or closing the dialog around it. */
export function LeaveGuard({ isDirty }: { isDirty: () => boolean }) {
  useAskedBy(isDirty);
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => isDirty() && leavesForm(current, next),
    enableBeforeUnload: isDirty,
    withResolver: true,
  });
  if (blocker.status !== 'blocked') return null;
  return (
    <Suspense>
      <LeaveDialog stay={blocker.reset} leave={blocker.proceed} />
    </Suspense>
  );
}

interface Place {
  pathname: string;
  search: Record<string, unknown>;
}

const OPENS_FORM = ['new', 'key', 'model', 'group', 'person', 'line', 'approval'];

/** Other search parameters are filters of the same page. */
function leavesForm(current: Place, next: Place): boolean {
  if (current.pathname !== next.pathname || current.search['tab'] !== next.search['tab']) return true;
  return OPENS_FORM.some(
    (name) => current.search[name] !== undefined && next.search[name] !== current.search[name],
  );
}
