import { useTranslation } from 'react-i18next';
import { PageFrame } from '../ui/page.js';
import { Retention } from './retention.js';

/** How long what is kept, for whoever thinks about signing up. */
export function RetentionPage() {
  const { t } = useTranslation('privacy');
  return (
    <PageFrame title={t('retention.title')} width={56}>
      <Retention />
    </PageFrame>
  );
}
