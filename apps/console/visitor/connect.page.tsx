import { lazyRouteComponent } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { mayAny, useSession } from '../shell/session.js';
import { PageFrame } from '../ui/page.js';
import { Connect } from './connect.js';

const OwnCode = lazyRouteComponent(() => import('../user/connect/own-code.js'), 'OwnCode');

/** Customers get code with their key in it, and see when its first request arrives. */
export default function ConnectPage() {
  const { t } = useTranslation('visitor');
  const session = useSession();
  const isOwn = mayAny(session, ['user']) && session?.viewing === null;
  return (
    <PageFrame title={t('connect.title')} about={t('connect.about')} width={56}>
      {isOwn ? <OwnCode /> : <Connect />}
    </PageFrame>
  );
}
