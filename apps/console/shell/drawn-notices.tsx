import '@mantine/notifications/styles.css';
import { Notifications } from '@mantine/notifications';

export default function DrawnNotices() {
  return <Notifications position="top-right" />;
}
