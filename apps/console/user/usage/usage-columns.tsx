import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Item } from '../../api/queries.js';
import type { Column } from '../../ui/data-list.js';
import { exactDecimal } from '../../ui/decimal.js';
import { TextLink } from '../../ui/links.js';
import { useLocale } from '../../ui/locale.js';
import { Money } from '../../ui/money.js';
import { When } from '../../ui/when.js';
import { useKeyName } from '../keys.js';
import { ChargeState } from './charge-state.js';

type Entry = Item<'/api/usage'>;

const NONE = '–';

/** What the log can show of a request; the time opens it. */
export function useUsageColumns(): Column<Entry>[] {
  return [...useMainColumns(), ...useExtraColumns()];
}

function useMainColumns(): Column<Entry>[] {
  const { t } = useTranslation('calls');
  return [
    {
      id: 'at',
      header: t('usage.columns.at'),
      cell: ({ at, chargeId }) => (
        <TextLink from="/usage" to="/usage" search={(before) => ({ ...before, charge: chargeId })}>
          <When at={at} />
        </TextLink>
      ),
    },
    {
      id: 'model',
      header: t('usage.columns.model'),
      cell: ({ requestedModel, model }) => (
        <span className="model-name">{requestedModel ?? model ?? NONE}</span>
      ),
    },
    { id: 'state', header: t('usage.columns.state'), cell: (entry) => <ChargeState charge={entry} /> },
    {
      id: 'units',
      header: t('usage.columns.units'),
      align: 'right',
      cell: (entry) => <Units entry={entry} />,
    },
    {
      id: 'settled',
      header: t('usage.columns.settled'),
      align: 'right',
      cell: ({ settled }) => (settled === null ? NONE : <Money value={settled} />),
    },
    {
      id: 'released',
      header: t('usage.columns.released'),
      align: 'right',
      cell: ({ released }) => (released === null || released === '0' ? NONE : <Money value={released} />),
    },
  ];
}

function useExtraColumns(): Column<Entry>[] {
  const { t } = useTranslation('calls');
  const locale = useLocale();
  const nameOf = useKeyName();
  return [
    {
      id: 'held',
      header: t('usage.columns.held'),
      align: 'right',
      isExtra: true,
      cell: ({ held, state }) => (state === 'refused' ? NONE : <Money value={held} />),
    },
    {
      id: 'key',
      header: t('usage.columns.key'),
      isExtra: true,
      cell: ({ keyId }) => (keyId === null ? NONE : nameOf(keyId)),
    },
    { id: 'group', header: t('usage.columns.group'), isExtra: true, cell: ({ group }) => group ?? NONE },
    {
      id: 'family',
      header: t('usage.columns.family'),
      isExtra: true,
      cell: ({ family }) => (family === null ? NONE : t(`families.${family}`)),
    },
    {
      id: 'latency',
      header: t('usage.columns.latency'),
      align: 'right',
      isExtra: true,
      cell: ({ latencyMs }) => (latencyMs === null ? NONE : `${latencyMs.toLocaleString(locale)} ms`),
    },
    {
      id: 'request',
      header: t('usage.columns.request'),
      isExtra: true,
      cell: ({ requestId }) => (
        <Text component="span" size="xs" ff="monospace">
          {requestId ?? NONE}
        </Text>
      ),
    },
    {
      id: 'task',
      header: t('usage.columns.task'),
      isExtra: true,
      cell: ({ taskId }) =>
        taskId === null ? (
          NONE
        ) : (
          <TextLink to="/tasks" search={{ task: taskId }} size="xs" ff="monospace">
            {taskId}
          </TextLink>
        ),
    },
  ];
}

/** What was delivered, or what is asked for while it is under way. Tokens are told line by line in the details. */
function Units({ entry }: { entry: Entry }) {
  const { t } = useTranslation('calls');
  const locale = useLocale();
  const { family, deliveredUnits, state } = entry;
  const units = state === 'settled' ? (deliveredUnits ?? entry.units) : entry.units;
  if (units === null || state === 'refused') return NONE;
  // Calls where the group has a price for each, tokens elsewhere: the details tell which.
  if (family === 'chat' || family === 'speech') return exactDecimal(units, locale);
  const unit = family === 'image' ? 'picture' : family === 'video' ? 'second' : 'call';
  return t(`units.${unit}`, { count: Number(units), units: exactDecimal(units, locale) });
}
