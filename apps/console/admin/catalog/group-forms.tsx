import { Group as Row, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, refresh, refreshMarket, type Shape } from '../../api/client.js';
import { isDecimal } from '../../ui/decimal.js';
import { onOffField, someOfField } from '../../ui/forms/choice-fields.js';
import { Anew, anewAfterConflict } from '../../ui/forms/anew.js';
import { editFrom } from '../../ui/forms/changed.js';
import { Form } from '../../ui/forms/declared.js';
import { countField } from '../../ui/forms/number-fields.js';
import { amountField, creditsField, orNull, textField } from '../../ui/forms/text-fields.js';
import { ButtonLink } from '../../ui/links.js';
import { GROUP_NAME } from '../../ui/patterns.js';
import { TextLine } from '../../ui/texts.js';
import { useModels } from '../catalog.js';
import { GroupPrice } from './group-price.js';

async function reread(): Promise<void> {
  await refresh(
    '/api/admin/groups',
    '/api/admin/models',
    '/api/admin/prices/export',
    '/api/admin/audit-log',
    '/api/approvals',
  );
  await refreshMarket();
}

type LimitName =
  | 'requestsPerMinute'
  | 'tokensPerMinute'
  | 'imagesPerMinute'
  | 'maxConcurrentRequests'
  | 'maxRunningTasks';

function useLimitField(group: Shape<'Group'> | undefined) {
  const { t } = useTranslation('catalog');
  return (name: LimitName, min = 1) =>
    countField(t(`groups.${name}`), {
      initial: group?.[name] ?? null,
      hint: t(`groups.${name}Hint`),
      placeholder: t('groups.noLimit'),
      min,
      max: 1_000_000_000,
      isHalf: true,
    });
}

/** The fields that creating and changing a group share. */
function useRules(group?: Shape<'Group'>) {
  const { t } = useTranslation('catalog');
  const models = useModels().data ?? [];
  const limit = useLimitField(group);
  return {
    open: onOffField(t('groups.open'), { initial: group?.open ?? false, hint: t('groups.openHint') }),
    models: someOfField(t('groups.models'), {
      initial: [...(group?.models ?? [])],
      hint: t('groups.modelsHint'),
      data: models.map(({ id }) => id),
      searchable: true,
      clearable: true,
      clearButtonProps: { 'aria-label': t('groups.noModels') },
    }),
    requestsPerMinute: limit('requestsPerMinute'),
    tokensPerMinute: limit('tokensPerMinute'),
    imagesPerMinute: limit('imagesPerMinute'),
    maxConcurrentRequests: limit('maxConcurrentRequests'),
    maxRunningTasks: limit('maxRunningTasks', 0),
  };
}

/** Set once, with the group. Afterwards, the multiplier and fixed price change by proposals. */
function useFirstTerms() {
  const { t } = useTranslation('catalog');
  const options = { rule: [isDecimal, t('fields.decimalInvalid')] as const, isHalf: true };
  const times = <Text size="sm">×</Text>;
  const placeholder = t('groups.listPrice');
  return {
    name: textField(t('groups.name'), { rule: [GROUP_NAME, t('fields.groupInvalid')], isFirst: true }),
    multiplier: amountField(t('groups.multiplier'), {
      ...options,
      hint: t('groups.multiplierHint'),
      initial: '1',
      leftSection: times,
    }),
    fixedPerCall: orNull(
      creditsField(t('groups.fixedPerCall'), { ...options, placeholder, isOptional: true }),
    ),
  };
}

export function CreateGroup({ done }: { done: () => void }) {
  const { t } = useTranslation('catalog');
  return (
    <Form
      fields={{ ...useFirstTerms(), ...useRules() }}
      submit={t('groups.create')}
      send={(body) => api.POST('/api/admin/groups', { body })}
      reread={reread}
      success={(_answer, { name }) => t('groups.made', { group: name })}
      done={done}
    />
  );
}

interface ChangeGroupProps {
  group: Shape<'Group'>;
  done: () => void;
}

/** Models and limits change immediately; prices change by proposals. */
export function ChangeGroup(props: ChangeGroupProps) {
  return <Anew>{(begin) => <GroupForm {...props} begin={begin} />}</Anew>;
}

function GroupForm({ group, done, begin }: ChangeGroupProps & { begin: () => void }) {
  const { t } = useTranslation('catalog');
  const params = { path: { group: group.name } };
  // The form keeps the values it opened with, even if the list is read again.
  const [began] = useState(group);
  return (
    <Form
      fields={useRules(group)}
      submit={t('save')}
      send={async (values) => {
        const body = editFrom(began, values);
        const { data } = await api.PATCH('/api/admin/groups/{group}', { params, body });
        if (data?.approvalId != null) return 'groups.openingWaits' as const;
        return data?.modelsApprovalId != null ? ('groups.modelsWait' as const) : ('groups.changed' as const);
      }}
      refused={anewAfterConflict(reread, begin)}
      reread={reread}
      success={(saved) => t(saved, { group: group.name })}
      done={done}
    >
      <PriceNow group={group} />
    </Form>
  );
}

function PriceNow({ group }: { group: Shape<'Group'> }) {
  const { t } = useTranslation('catalog');
  return (
    <Stack gap="xs">
      <TextLine>
        {t('groups.priceNow')} <GroupPrice group={group} />
      </TextLine>
      <Row gap="xs">
        {(['multiplier', 'rule'] as const).map((kind) => (
          <ButtonLink
            key={kind}
            to="/admin/prices/propose"
            search={{ group: group.name, kind }}
            variant="default"
            size="xs"
          >
            {t(`groups.propose.${kind}`)}
          </ButtonLink>
        ))}
      </Row>
    </Stack>
  );
}
