import { Group } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { everyWord } from '../../api/enumerations.js';
import { useList } from '../../api/lists.js';
import type { Shape } from '../../api/shape.js';
import { Choice } from '../../ui/lists/choice.js';
import { column, numberColumn, rightColumn, timeColumn } from '../../ui/lists/columns.js';
import { type ListColumn, DataList } from '../../ui/lists/data-list.js';
import { ButtonLink, TextLink } from '../../ui/links.js';
import { PageFrame } from '../../ui/page.js';
import { When } from '../../ui/time/when.js';
import { PeriodBadge } from './period-state.js';

const route = getRouteApi('/finance/periods');
const states = everyWord<Shape<'Period'>['state']>()('closing', 'closed', 'abandoned');

/** Periods that were closed, or tried, the newest first. */
export function PeriodsPage() {
  const { t } = useTranslation('periods');
  const { state } = route.useSearch();
  const periods = useList('/api/finance/periods', { query: { state } });
  return (
    <PageFrame
      title={t('title')}
      about={t('about')}
      actions={<ButtonLink to="/finance/periods/close">{t('close')}</ButtonLink>}
    >
      <Group>
        <Choice
          label={t('state')}
          options={states.map((value) => ({ value, label: t(`states.${value}`) }))}
          param="state"
        />
      </Group>
      <DataList
        label={t('title')}
        query={periods}
        columns={useColumns()}
        rowKey={({ id }) => id}
        empty={{
          title: t('empty'),
          hint: t('emptyHint'),
          action: (
            <ButtonLink to="/finance/periods/close" variant="default">
              {t('close')}
            </ButtonLink>
          ),
        }}
        isPaged
      />
    </PageFrame>
  );
}

function useColumns(): ListColumn<Shape<'Period'>>[] {
  const { t } = useTranslation('periods');
  return [
    column('endsAt', t('period'), ({ id, startsAt, endsAt }) => (
      <TextLink to="/finance/periods/$periodId" params={{ periodId: id }}>
        {startsAt === null ? t('beginning') : <When at={startsAt} />} – <When at={endsAt} />
      </TextLink>
    )),
    column('state', t('state'), ({ state }) => <PeriodBadge state={state} />),
    rightColumn('waivers', t('waived'), ({ waivers }) => waivers.length),
    numberColumn('latePostings', t('late')),
    timeColumn('endedAt', t('endedAt')),
  ];
}
