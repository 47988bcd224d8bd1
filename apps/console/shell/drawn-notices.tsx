import '@mantine/notifications/styles.css';
import { Notifications } from '@mantine/notifications';

/** The library's corner of the screen. */
export default function DrawnNotices() {
  return <Notifications position="top-right" />;
}
