import { useBlocker } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';

const LeaveDialog = lazy(() => import('./leave-dialog.js'));

/** Asks before what was entered and not sent is lost by going elsewhere, or by closing the tab. */
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

/** Other searches are filters and tabs of the same page, except the ones that have a form open. */
function leavesForm(current: Place, next: Place): boolean {
  if (current.pathname !== next.pathname) return true;
  return ['new', 'model', 'group'].some((name) => name in current.search && !(name in next.search));
}
