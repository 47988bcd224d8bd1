import { Paper, SimpleGrid, Tabs } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/shape.js';
import { PageFrame } from '../../ui/page.js';
import { EmptyState, Loaded } from '../../ui/states.js';
import { marketQuery } from '../../visitor/market.js';
import { useKeys } from '../keys.js';
import { type PlayKind, playKinds } from './call.js';
import { MakeKey } from './make-key.js';
import { Workbench } from './workbench.js';

const route = getRouteApi('/user/playground');

/** Calls of the gateway without a line of code: what it costs before, what came of it, and the same call as code. */
export function PlaygroundPage() {
  const { t } = useTranslation('calls');
  const { kind = 'image' } = route.useSearch();
  const navigate = route.useNavigate();
  const market = useQuery(marketQuery);
  const keys = useKeys();
  return (
    <PageFrame title={t('play.title')} about={t('play.about')}>
      <Tabs
        value={kind}
        onChange={(chosen) => void navigate({ search: { kind: chosen as PlayKind } })}
        keepMounted={false}
      >
        <Tabs.List aria-label={t('play.kinds')}>
          {playKinds.map((each) => (
            <Tabs.Tab key={each} value={each}>
              {t(`play.kind.${each}`)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value={kind} pt="md">
          <Loaded query={market} lines={8}>
            {(models) => (
              <Loaded query={keys} lines={8}>
                {({ items }) => <Kind kind={kind} models={modelsFor(kind, models)} keys={items} />}
              </Loaded>
            )}
          </Loaded>
        </Tabs.Panel>
      </Tabs>
    </PageFrame>
  );
}

function Kind({
  kind,
  models,
  keys,
}: {
  kind: PlayKind;
  models: Shape<'ListedModel'>[];
  keys: readonly Shape<'Key'>[];
}) {
  const { t } = useTranslation('calls');
  const { model: named } = route.useSearch();
  const model = models.find(({ id }) => id === named) ?? models[0];
  if (!model) return <EmptyState title={t('play.noModels')} hint={t('play.noModelsHint')} />;
  const usable = keys.filter((key) => mayUse(key, model));
  if (keys.every((key) => !models.some((each) => mayUse(key, each)))) {
    return (
      <SimpleGrid cols={1}>
        <Paper withBorder>
          <MakeKey model={model} />
        </Paper>
      </SimpleGrid>
    );
  }
  return <Workbench key={kind} kind={kind} model={model} models={models} keys={usable} />;
}

/** Models that edit images are of the same family as those that generate them; their names decide which come first. */
function modelsFor(kind: PlayKind, models: readonly Shape<'ListedModel'>[]): Shape<'ListedModel'>[] {
  const family = kind === 'edit' ? 'image' : kind;
  const isEditor = ({ id }: Shape<'ListedModel'>) => /edit/i.test(id);
  const found = models.filter((model) => model.family === family && model.available);
  if (family !== 'image') return found;
  const later = (model: Shape<'ListedModel'>) => (isEditor(model) === (kind === 'edit') ? 0 : 1);
  return found.sort((a, b) => later(a) - later(b));
}

function mayUse({ group, allowedModels, expiresAt }: Shape<'Key'>, model: Shape<'ListedModel'>): boolean {
  return (
    model.groups.some((each) => each.group === group) &&
    (allowedModels === null || allowedModels.includes(model.id)) &&
    (expiresAt === null || expiresAt > new Date().toISOString())
  );
}
