import { useTranslation } from 'react-i18next';
import { PageFrame } from '../ui/page.js';
import { Connect } from './connect.js';

/** How code reaches the relay. */
export function ConnectPage() {
  const { t } = useTranslation('visitor');
  return (
    <PageFrame title={t('connect.title')} about={t('connect.about')} width={56}>
      <Connect />
    </PageFrame>
  );
}
