import { Paper, Skeleton, Stack, Tabs } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '../../api/client.js';
import type { Shape } from '../../api/shape.js';
import { useChosenInView } from '../../ui/chosen-in-view.js';
import { PageFrame } from '../../ui/page.js';
import { EmptyState, Loaded } from '../../ui/states.js';
import { marketQuery } from '../../visitor/market/market.js';
import { useKeys } from '../keys.js';
import { widestGroup } from '../widest-group.js';
import { type PlayKind, playKinds } from './call.js';
import { MakeKey } from './make-key.js';
import { OtherKey, OtherModel } from './other-choice.js';
import { firstKindOf, isUsable, isWorking, mayUse, modelsFor } from './usable.js';
import { Workbench } from './workbench.js';

const route = getRouteApi('/user/playground');

/** Calls of the gateway without a line of code: what it costs before, what came of it, and the same call as code. */
export function PlaygroundPage() {
  const { t } = useTranslation('calls');
  const { key } = route.useSearch();
  const kind = useKind();
  const row = useChosenInView<HTMLDivElement>(kind);
  const navigate = route.useNavigate();
  return (
    <PageFrame title={t('play.title')} about={t('play.about')}>
      <Tabs
        value={kind}
        onChange={(chosen) => void navigate({ search: { kind: chosen as PlayKind, key } })}
        keepMounted={false}
      >
        <Tabs.List ref={row} aria-label={t('play.kinds')}>
          {playKinds.map((each) => (
            <Tabs.Tab key={each} value={each}>
              {t(`play.kind.${each}`)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value={kind} pt="md">
          <Read kind={kind} />
        </Tabs.Panel>
      </Tabs>
    </PageFrame>
  );
}

/** Where the address has none, what its key may call: keys are tried from their list, whatever they are for. */
function useKind(): PlayKind {
  const { kind, key: chosen } = route.useSearch();
  const models = useQuery(marketQuery).data;
  const key = useKeys().data?.items.find(({ keyId }) => keyId === chosen);
  return kind ?? (key && models && firstKindOf(key, models)) ?? 'image';
}

/** Reads what the form of a kind of calls is made of. */
function Read({ kind }: { kind: PlayKind }) {
  const { again } = route.useSearch();
  const market = useQuery(marketQuery);
  const keys = useKeys();
  const own = $api.useQuery('get', '/api/groups');
  return (
    <Loaded query={market} lines={8}>
      {(models) => (
        <Loaded query={keys} lines={8}>
          {({ items }) => (
            <Loaded query={own} lines={8}>
              {({ groups }) => (
                <Again id={again}>
                  {(task) => <Kind kind={kind} all={models} keys={items} own={groups} again={task} />}
                </Again>
              )}
            </Loaded>
          )}
        </Loaded>
      )}
    </Loaded>
  );
}

interface AgainProps {
  id: string | undefined;
  children: (task: Shape<'Task'> | null) => ReactNode;
}

/** The task that the form begins with. Where there is none any more, the form begins as always. */
function Again({ id = '', children }: AgainProps) {
  const path = { params: { path: { taskId: id } } };
  const task = $api.useQuery('get', '/api/tasks/{taskId}', path, { enabled: id !== '' });
  if (id !== '' && task.isPending) return <Skeleton height={320} />;
  return children(task.data ?? null);
}

interface KindProps {
  kind: PlayKind;
  all: readonly Shape<'ListedModel'>[];
  keys: readonly Shape<'Key'>[];
  /** The groups that the account may create keys in. */
  own: readonly string[];
  again: Shape<'Task'> | null;
}

function Kind({ kind, all, keys, own, again }: KindProps) {
  const { t } = useTranslation('calls');
  const { model: named, key: chosen } = route.useSearch();
  const models = modelsFor(kind, all);
  const chosenKey = keys.find(({ keyId }) => keyId === chosen);
  const model =
    models.find(({ id }) => id === named) ??
    models.find((each) => chosenKey && mayUse(chosenKey, each)) ??
    models.find((each) => isUsable(each, { keys, own })) ??
    models[0];
  if (!model) return <EmptyState title={t('play.noModels')} hint={t('play.noModelsHint')} />;
  const usable = keys.filter((key) => mayUse(key, model));
  const group = widestGroup(all, { own, model });
  // Where no model of the type can be called, the form would be of no use.
  if (!models.some((each) => isUsable(each, { keys, own })))
    return (
      <Paper withBorder>
        <MakeKey model={model} />
      </Paper>
    );
  return (
    <Stack>
      <OtherModel model={model} />
      <OtherKey keys={keys} model={model} />
      <Workbench
        key={`${kind} ${again?.id ?? ''}`}
        kind={kind}
        again={again}
        model={model}
        models={models}
        keys={usable}
        group={group}
        isNew={!keys.some(isWorking)}
      />
    </Stack>
  );
}
