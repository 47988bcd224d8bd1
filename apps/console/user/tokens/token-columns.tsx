import { Group, Progress, Stack, Text, Tooltip } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/client.js';
import { OwnOnly } from '../../shell/own-only.js';
import {
  column,
  extra,
  menuColumn,
  offPhone,
  rightColumn,
  textColumn,
  timeColumn,
} from '../../ui/lists/columns.js';
import type { ListColumn } from '../../ui/lists/data-list.js';
import { compareDecimals } from '../../ui/decimal.js';
import { OpenLink, TextLink } from '../../ui/links.js';
import { Money, useMoneyText } from '../../ui/money.js';
import { SmallPrint, TextLine } from '../../ui/texts.js';
import { StatusBadge } from '../../ui/status-badge.js';
import { When } from '../../ui/time/when.js';
import { DeleteToken } from './delete-token.js';

export function useTokenColumns(): ListColumn<Shape<'Key'>>[] {
  const { t } = useTranslation('tokens');
  return [
    column('name', t('columns.name'), (token) => <Name token={token} />),
    textColumn('group', t('columns.group')),
    rightColumn('month', t('columns.month'), ({ spentThisMonth, monthlyLimit, name }) => (
      <Used used={spentThisMonth} limit={monthlyLimit} label={`${name}: ${t('columns.month')}`} />
    )),
    offPhone(
      rightColumn('total', t('columns.total'), ({ spent, totalLimit, name }) => (
        <Used used={spent} limit={totalLimit} label={`${name}: ${t('columns.total')}`} />
      )),
    ),
    column('models', t('columns.models'), ({ allowedModels }) => (
      <Allowed list={allowedModels} of="models" />
    )),
    extra(column('ips', t('columns.ips'), ({ allowedIps }) => <Allowed list={allowedIps} of="ips" />)),
    offPhone(column('expiresAt', t('columns.expiresAt'), (token) => <Expiry token={token} />)),
    offPhone(timeColumn('lastUsedAt', t('columns.lastUsedAt'), t('never'))),
    extra(timeColumn('createdAt', t('columns.createdAt'))),
    rightColumn('do', t('columns.do'), (token) => <Actions token={token} />),
    menuColumn(({ keyId }) => [{ copy: keyId }]),
  ];
}

function Name({ token: { keyId, name, prefix } }: { token: Shape<'Key'> }) {
  const { t } = useTranslation('tokens');
  return (
    <Stack gap={0}>
      <OpenLink
        param="key"
        value={keyId}
        aria-label={t('changeName', { name })}
        size="sm"
        fw={600}
        c="inherit"
        className="model-name"
      >
        {name}
      </OpenLink>
      {prefix !== null && (
        <Text size="xs" c="dimmed" ff="monospace">
          {prefix}…
        </Text>
      )}
    </Stack>
  );
}

function Used({ used, limit, label }: { used: string; limit: string | null; label: string }) {
  const { t } = useTranslation('tokens');
  const money = useMoneyText();
  if (limit === null) return <Money value={used} />;
  const isOver = compareDecimals(used, limit) >= 0;
  return (
    <Stack gap="tiny" align="stretch">
      <TextLine>
        <Money value={used} />
      </TextLine>
      <Progress.Root>
        <Progress.Section
          value={partOf(used, limit)}
          color={isOver ? 'red' : 'blue'}
          aria-label={label}
          aria-valuetext={t('usedOf', { used: money(used), limit: money(limit) })}
        />
      </Progress.Root>
      <SmallPrint>{t('ofLimit', { limit: money(limit) })}</SmallPrint>
    </Stack>
  );
}

/** Percent, for drawing only: amounts are never numbers elsewhere. */
function partOf(used: string, limit: string): number {
  return Number(limit) === 0 ? 100 : Math.min(100, (Number(used) / Number(limit)) * 100);
}

function Allowed({ list, of }: { list: string[] | null; of: 'models' | 'ips' }) {
  const { t } = useTranslation('tokens');
  if (list === null) return t(of === 'models' ? 'allModels' : 'allIps');
  if (list.length === 1) return <span className="model-name">{list[0]}</span>;
  return (
    <Tooltip label={list.join(', ')} multiline maw="20rem">
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- the keyboard reaches the tooltip */}
      <span tabIndex={0}>{t(`count.${of}`, { count: list.length })}</span>
    </Tooltip>
  );
}

function Expiry({ token: { expiresAt } }: { token: Shape<'Key'> }) {
  const { t } = useTranslation('tokens');
  if (expiresAt === null) return t('neverExpires');
  // Evaluated again whenever the list is reread.
  return isPast(expiresAt) ? <StatusBadge tone="bad">{t('expired')}</StatusBadge> : <When at={expiresAt} />;
}

function isPast(at: string): boolean {
  return Date.parse(at) <= Date.now();
}

function Actions({ token }: { token: Shape<'Key'> }) {
  const { t } = useTranslation('tokens');
  const { keyId, name, expiresAt } = token;
  return (
    <Group gap="xs" justify="flex-end" wrap="nowrap">
      {(expiresAt === null || !isPast(expiresAt)) && (
        <OwnOnly>
          <TextLink to="/playground" search={{ key: keyId }} size="sm" aria-label={t('tryName', { name })}>
            {t('tryShort')}
          </TextLink>
        </OwnOnly>
      )}
      <TextLink to="/usage" search={{ keyId }} size="sm" aria-label={t('usageOf', { name })}>
        {t('usageShort')}
      </TextLink>
      <OwnOnly>
        <DeleteToken token={token} />
      </OwnOnly>
    </Group>
  );
}
