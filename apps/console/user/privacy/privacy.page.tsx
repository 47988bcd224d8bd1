import { useTranslation } from 'react-i18next';
import { PageFrame, Section } from '../../ui/page.js';
import { Retention } from '../../visitor/retention.js';
import { Activity } from './activity.js';
import { DeleteAccount } from './deletion.js';
import { Exports } from './exports.js';

export function PrivacyPage() {
  const { t } = useTranslation('privacy');
  return (
    <PageFrame title={t('title')} about={t('about')}>
      <Section title={t('activity.title')}>
        <Activity />
      </Section>
      <Section title={t('retention.title')}>
        <Retention />
      </Section>
      <Section title={t('exports.title')}>
        <Exports />
      </Section>
      <Section title={t('deletion.title')}>
        <DeleteAccount />
      </Section>
    </PageFrame>
  );
}
