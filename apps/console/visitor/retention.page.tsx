import { useTranslation } from 'react-i18next';
import { PageFrame } from '../ui/page.js';
import { Retention } from './retention.js';

/** Public, for anyone who considers signing up. */
export default function RetentionPage() {
  const { t } = useTranslation('privacy');
  return (
    <PageFrame title={t('retention.title')} width={56}>
      <Retention />
    </PageFrame>
  );
}
