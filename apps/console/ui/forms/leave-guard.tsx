import { useBlocker } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';

const LeaveDialog = lazy(() => import('./leave-dialog.js'));

/** Asks before unsent input is lost by leaving the page or closing the tab. */
export function LeaveGuard({ isDirty }: { isDirty: () => boolean }) {
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
  search: object;
}

/** Other search parameters are filters and tabs of the same page, except those that open a form. */
function leavesForm(current: Place, next: Place): boolean {
  if (current.pathname !== next.pathname) return true;
  return ['new', 'key', 'model', 'group'].some((name) => name in current.search && !(name in next.search));
}
