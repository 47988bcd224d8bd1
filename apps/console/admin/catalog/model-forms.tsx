import { Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, refresh, refreshMarket, type Shape } from '../../api/client.js';
import { families, modelRoutings } from '../../api/enumerations.js';
import { choiceField, oneOfField, onOffField, someOfField } from '../../ui/forms/choice-fields.js';
import { Form } from '../../ui/forms/declared.js';
import type { Entered, Sent } from '../../ui/forms/field.js';
import { Anew, anewAfterConflict } from '../../ui/forms/anew.js';
import { editFrom } from '../../ui/forms/changed.js';
import { textField } from '../../ui/forms/text-fields.js';
import { MODEL_NAME } from '../../ui/patterns.js';
import { Hint } from '../../ui/texts.js';
import { useGroups } from '../catalog.js';
import { ModelRoute } from './model-route.js';
import { limitNames, limitsFrom, limitsHidden, useLimits } from './limits.js';

const UNITS: Record<Shape<'Model'>['family'], readonly Shape<'Model'>['unit'][]> = {
  image: ['call', 'token'],
  video: ['second'],
  chat: ['token', 'call'],
  speech: ['call', 'token', 'second'],
  '3d': ['call'],
};

async function reread(): Promise<void> {
  await refresh(
    '/api/admin/models',
    '/api/admin/models/{model}/route',
    '/api/admin/groups',
    '/api/admin/audit-log',
    '/api/approvals',
  );
  await refreshMarket();
}

interface NewModelProps {
  isAlias: boolean;
  models: readonly Shape<'Model'>[];
  done: () => void;
}

function useNewModel(models: readonly Shape<'Model'>[], family: Shape<'Model'>['family']) {
  const { t } = useTranslation('catalog');
  const groups = useGroups().data ?? [];
  return {
    id: textField(t('models.id'), {
      hint: t('fields.modelHint'),
      rule: [MODEL_NAME, t('fields.modelInvalid')],
      isFirst: true,
    }),
    aliasOf: oneOfField(t('models.aliasOf'), {
      data: models.filter(({ aliasOf }) => aliasOf === null).map(({ id }) => id),
      missing: t('fields.aliasMissing'),
    }),
    family: choiceField(t('models.family'), { of: families, name: (each) => t(`families.${each}`) }),
    unit: choiceField(t('models.unit'), { of: UNITS[family], name: (unit) => t(`units.${unit}`) }),
    ownedBy: textField(t('models.vendor'), { missing: t('fields.vendorMissing') }),
    groups: someOfField(t('models.groups'), {
      hint: t('fields.groupsHint'),
      data: groups.map(({ name }) => name),
    }),
    ...useLimits({}),
  };
}

type NewModel = ReturnType<typeof useNewModel>;

/** A new family changes the unit; the target of an alias fills in the rest. */
function useFamily({ isAlias, models }: NewModelProps) {
  const [chosen, setChosen] = useState<Shape<'Model'>['family']>('image');
  const follow = (now: Entered<NewModel>, before: Entered<NewModel>) => {
    const of = now.aliasOf !== before.aliasOf && models.find(({ id }) => id === now.aliasOf);
    if (of) return { ownedBy: of.ownedBy, family: of.family, groups: [...of.groups] };
    if (now.family === before.family) return null;
    setChosen(now.family);
    return isAlias ? null : { unit: UNITS[now.family][0]! };
  };
  return { chosen, follow };
}

function create({ id, aliasOf, family, unit, ownedBy, groups, ...limits }: Sent<NewModel>, isAlias: boolean) {
  const kind = isAlias ? { aliasOf } : { family, unit };
  const body = { id, ownedBy, groups, limits: limitsFrom(limits), ...kind, enabled: true };
  return api.POST('/api/admin/models', { body });
}

/** Creates a model or an alias. A model is on sale once its price is confirmed. */
export function CreateModel(props: NewModelProps) {
  const { isAlias, models, done } = props;
  const { t } = useTranslation('catalog');
  const { chosen, follow } = useFamily(props);
  return (
    <Form
      fields={useNewModel(models, chosen)}
      hidden={({ family, aliasOf }) => [
        ...(isAlias ? (['family', 'unit'] as const) : (['aliasOf'] as const)),
        ...(isAlias && aliasOf === '' ? limitNames : limitsHidden(family, {})),
      ]}
      follow={follow}
      submit={isAlias ? t('models.createAlias') : t('models.create')}
      send={(values) => create(values, isAlias)}
      reread={reread}
      success={({ data }, { id }) => {
        if (data?.approvalId != null) return t('models.groupsWait', { model: id });
        return t(isAlias ? 'models.aliasMade' : 'models.made', { model: id });
      }}
      done={done}
    >
      <Text size="sm">{isAlias ? t('models.aliasHint') : t('models.newHint')}</Text>
    </Form>
  );
}

interface OneModelProps {
  model: Shape<'Model'>;
  done: () => void;
}

export function OneModel(props: OneModelProps) {
  return (
    <Stack gap="lg">
      <Anew>{(begin) => <ChangeModel {...props} begin={begin} />}</Anew>
      <ModelRoute model={props.model.id} />
    </Stack>
  );
}

function useKnownModel({ enabled, ownedBy, routing, limits }: Shape<'Model'>) {
  const { t } = useTranslation('catalog');
  return {
    enabled: onOffField(t('models.enabled'), { initial: enabled, hint: t('models.enabledHint') }),
    ownedBy: textField(t('models.vendor'), { initial: ownedBy, missing: t('fields.vendorMissing') }),
    routing: choiceField(t('models.routing'), {
      of: modelRoutings,
      name: (each) => t(`models.routings.${each}`),
      initial: routing,
      hint: t('models.routingHint'),
    }),
    ...useLimits(limits),
  };
}

function settingsOf({ enabled, ownedBy, routing, limits }: ModelSettings) {
  return { enabled, ownedBy, routing, limits: limitsFrom(limits) };
}

type ModelSettings = Pick<Shape<'Model'>, 'enabled' | 'ownedBy' | 'routing'> & {
  limits: Parameters<typeof limitsFrom>[0];
};

/** The name, family and unit of a model never change. */
function ChangeModel({ model, done, begin }: OneModelProps & { begin: () => void }) {
  const { t } = useTranslation('catalog');
  // The form keeps the values it opened with, even if the list is read again.
  const [began] = useState(model);
  const isAlias = model.aliasOf !== null;
  return (
    <Form
      fields={useKnownModel(model)}
      hidden={() => [...limitsHidden(model.family, model.limits), ...(isAlias ? (['routing'] as const) : [])]}
      submit={t('save')}
      send={(values) => {
        const body = editFrom(settingsOf(began), settingsOf({ ...values, limits: values }));
        // As read: the form leaves out empty lists.
        if (body.was.limits) body.was.limits = began.limits;
        return api.PATCH('/api/admin/models/{model}', { params: { path: { model: model.id } }, body });
      }}
      refused={anewAfterConflict(reread, begin)}
      reread={reread}
      success={() => t('models.changed', { model: model.id })}
      done={done}
    >
      <Hint>
        {t(`families.${model.family}`)} · {t(`units.${model.unit}`)}
        {isAlias && ` · ${t('models.isAlias', { model: model.aliasOf })}`}
      </Hint>
    </Form>
  );
}
