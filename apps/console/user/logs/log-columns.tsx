import type { TFunction } from 'i18next';
import { useCallback, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/client.js';
import {
  amountColumn,
  column,
  extra,
  longText,
  menuColumn,
  openColumn,
  rightColumn,
} from '../../ui/lists/columns.js';
import type { ListColumn } from '../../ui/lists/data-list.js';
import { NONE } from '../../ui/lists/phone-row.js';
import { copies, type RowAction } from '../../ui/lists/row-actions.js';
import { exactDecimal } from '../../ui/decimal.js';
import { Identifier } from '../../ui/texts.js';
import { TextLink } from '../../ui/links.js';
import { useLocale } from '../../ui/locale.js';
import { Money } from '../../ui/money.js';
import { useKeyName } from '../keys.js';
import { ChargeBadge } from '../usage/charge-state.js';

export function useLogColumns(): ListColumn<Shape<'UsageEntry'>>[] {
  const { t } = useTranslation('calls');
  const locale = useLocale();
  const nameOf = useKeyName();
  const actionsOf = useActions(nameOf);
  return useMemo(
    () => [...mainColumns(t), ...extraColumns({ t, locale, nameOf }), menuColumn(actionsOf)],
    [t, locale, nameOf, actionsOf],
  );
}

function mainColumns(t: TFunction<'calls'>): ListColumn<Shape<'UsageEntry'>>[] {
  return [
    openColumn('charge', t('usage.columns.at'), ({ at, chargeId: id }) => ({ id, at })),
    column('model', t('usage.columns.model'), ({ requestedModel, model }) =>
      longText(requestedModel ?? model),
    ),
    column('state', t('usage.columns.state'), (entry) => <ChargeBadge charge={entry} />),
    rightColumn('units', t('usage.columns.units'), (entry) => <Units entry={entry} />),
    amountColumn('settled', t('usage.columns.settled'), ({ settled }) =>
      settled === null ? NONE : <Money aligned value={settled} />,
    ),
    rightColumn('released', t('usage.columns.released'), ({ released }) =>
      released === null || released === '0' ? NONE : <Money value={released} />,
    ),
  ];
}

interface ExtraTexts {
  t: TFunction<'calls'>;
  locale: string;
  nameOf: (keyId: string) => string;
}

function extraColumns({ t, locale, nameOf }: ExtraTexts): ListColumn<Shape<'UsageEntry'>>[] {
  const columns: ListColumn<Shape<'UsageEntry'>>[] = [
    rightColumn('held', t('usage.columns.held'), ({ held, state }) =>
      state === 'refused' ? NONE : <Money value={held} />,
    ),
    column('key', t('usage.columns.key'), ({ keyId }) => (keyId === null ? NONE : nameOf(keyId))),
    column('group', t('usage.columns.group'), ({ group }) => group ?? NONE),
    column('family', t('usage.columns.family'), ({ family }) =>
      family === null ? NONE : t(`families.${family}`),
    ),
    rightColumn('latency', t('usage.columns.latency'), ({ latencyMs }) =>
      latencyMs === null ? NONE : `${latencyMs.toLocaleString(locale)} ms`,
    ),
    column('request', t('usage.columns.request'), ({ requestId }) => <Identifier>{requestId}</Identifier>),
    column('task', t('usage.columns.task'), ({ taskId }) =>
      taskId === null ? NONE : <ToTask id={taskId} />,
    ),
  ];
  return columns.map(extra);
}

function ToTask({ id }: { id: string }) {
  return (
    <TextLink to="/tasks" search={{ task: id }} size="xs" ff="monospace">
      {id}
    </TextLink>
  );
}

function useActions(nameOf: ExtraTexts['nameOf']): (entry: Shape<'UsageEntry'>) => RowAction[] {
  return useCallback(
    ({ chargeId, requestId, keyId, model }) => [
      ...copies({ request: requestId, charge: chargeId }),
      ...(keyId === null ? [] : [{ only: { keyId }, what: nameOf(keyId) }]),
      ...(model === null ? [] : [{ only: { model }, what: model }]),
    ],
    [nameOf],
  );
}

/** What was delivered, or requested while it is in progress. */
function Units({ entry }: { entry: Shape<'UsageEntry'> }) {
  const { t } = useTranslation('calls');
  const locale = useLocale();
  const { family, deliveredUnits, state } = entry;
  const units = state === 'settled' ? (deliveredUnits ?? entry.units) : entry.units;
  if (units === null || state === 'refused') return NONE;
  // Calls if the group has a fixed price, otherwise tokens.
  if (family === 'chat' || family === 'speech') return exactDecimal(units, locale);
  const unit = family === 'image' ? 'image' : family === 'video' ? 'second' : 'call';
  return t(`units.${unit}`, { count: Number(units), units: exactDecimal(units, locale) });
}
