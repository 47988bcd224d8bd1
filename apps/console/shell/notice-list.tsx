import { useNotifications } from '@mantine/notifications';
import { lazy, Suspense, useState } from 'react';

const DrawnNotices = lazy(() => import('./drawn-notices.js'));

/** Loads the code for notices with the first one. */
export function NoticeList() {
  const { notifications } = useNotifications();
  const [hadOne, setHadOne] = useState(false);
  if (notifications.length > 0 && !hadOne) setHadOne(true);
  if (!hadOne) return null;
  return (
    <Suspense fallback={null}>
      <DrawnNotices />
    </Suspense>
  );
}
