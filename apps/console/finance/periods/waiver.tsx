import { Group } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { api, refresh, type Shape, useRead } from '../../api/client.js';
import { TextLink } from '../../ui/links.js';
import { StatusBadge } from '../../ui/status-badge.js';
import { NoteAction } from '../note.js';
import { startOf } from '../utc-days.js';

interface WaiverProps {
  /** The first day after the period. */
  end: string;
  item: Shape<'ChecklistItem'>;
}

/** One person says why the books may close despite an item, and another approves it. */
export function RequestWaiver({ end, item: { id, count } }: WaiverProps) {
  const { t } = useTranslation('periods');
  if (useAskedFor(end).has(id)) return <Asked />;
  return (
    <NoteAction
      texts={t('waiver', { count })}
      noteLabel={t('waiver.reason')}
      send={({ note }, requestId) =>
        api.POST('/api/finance/periods/waivers', {
          body: { end: startOf(end), item: id, count, reason: note, requestId },
        })
      }
      reread={() => refresh('/api/approvals')}
      success={() => t('waiver.asked')}
    />
  );
}

function Asked() {
  const { t } = useTranslation('periods');
  return (
    <Group gap="sm">
      <StatusBadge tone="waiting">{t('waiver.waiting')}</StatusBadge>
      <TextLink to="/approvals" size="sm">
        {t('waiver.toApprovals')}
      </TextLink>
    </Group>
  );
}

const MOST_WAITING = 200;

/** Items of this period with a pending waiver. */
function useAskedFor(end: string): Set<string> {
  const query = { state: 'pending', limit: MOST_WAITING } as const;
  const { data } = useRead('/api/approvals', { query });
  const ofPeriod = `period-end:${new Date(startOf(end)).toISOString()}`;
  const waiting = (data?.items ?? []).filter(({ subject }) => subject === ofPeriod);
  return new Set(waiting.map(({ details }) => (details as { item?: string }).item ?? ''));
}
