import { useTranslation } from 'react-i18next';
import { PageFrame, Section } from '../../ui/page.js';
import { Retention } from '../../visitor/retention.js';
import { DeleteAccount } from './deletion.js';
import { Exports } from './exports.js';
import { type Item, useList } from '../../api/client.js';
import { column, onPhone, timeColumn } from '../../ui/lists/columns.js';
import { DataList, type ListColumn } from '../../ui/lists/data-list.js';

export default function PrivacyPage() {
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

const PAGE = 20;

type Line = Item<'/api/activity'>;

/** Sign-ins, keys, and which staff looked when and why. */
function Activity() {
  const { t } = useTranslation('privacy');
  return (
    <DataList
      query={useList('/api/activity', { query: { limit: PAGE } })}
      columns={useColumns()}
      empty={t('activity.empty')}
    />
  );
}

function useColumns(): ListColumn<Line>[] {
  const { t } = useTranslation('privacy');
  return [
    timeColumn('at', t('activity.at')),
    column('by', t('activity.by'), ({ by }) => t(`activity.actors.${by}`)),
    onPhone('main', {
      id: 'action',
      header: t('activity.action'),
      // Actions newer than these texts show their name.
      cell: ({ action }) => t(`activity.actions.${action}` as 'activity.action', { defaultValue: action }),
    }),
    column('reason', t('activity.reason'), ({ reason }) => reason ?? '–'),
  ];
}
