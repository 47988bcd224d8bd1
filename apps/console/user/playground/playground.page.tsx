import { Skeleton, Stack, Tabs } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Shape, useRead } from '../../api/client.js';
import { together } from '../../api/together.js';
import { useChosenInView } from '../../ui/chosen-in-view.js';
import { PageFrame } from '../../ui/page.js';
import { EmptyState, Loaded } from '../../ui/states.js';
import { marketQuery } from '../../visitor/market/market-query.js';
import { useKeys } from '../keys.js';
import { widestGroup } from '../widest-group.js';
import { type PlayKind, playKinds } from './call.js';
import { MakeKey } from './make-key.js';
import { OtherKey, OtherModel } from './other-choice.js';
import { firstKindOf, isUsable, isWorking, mayUse, modelsFor } from './usable.js';
import { type PlayAddress, Workbench } from './workbench.js';

const route = getRouteApi('/user/playground');

/** Calls without code: the price first, then the result, and the same call as code. */
export default function PlaygroundPage() {
  const { t } = useTranslation('calls');
  const search = route.useSearch();
  const kindOf = useKindOf(search.key);
  const kind = kindOf(search);
  const row = useChosenInView<HTMLDivElement>(kind);
  const navigate = route.useNavigate();
  const choose = (chosen: string | null) =>
    void navigate({ search: { kind: chosen as PlayKind, key: search.key } });
  return (
    <PageFrame title={t('play.title')} about={t('play.about')}>
      <Tabs value={kind} onChange={choose} keepMounted={false}>
        <Tabs.List ref={row} aria-label={t('play.kinds')}>
          {playKinds.map((each) => (
            <Tabs.Tab key={each} value={each}>
              {t(`play.kind.${each}`)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value={kind} pt="md">
          <Read kind={kind} kindOf={kindOf} />
        </Tabs.Panel>
      </Tabs>
    </PageFrame>
  );
}

/** Without a type in the address, the first one that the key may call. */
function useKindOf(chosen: string | undefined): (address: PlayAddress) => PlayKind {
  const models = useQuery(marketQuery).data;
  const keys = useKeys().data?.items;
  const firstOf = (id: string | undefined) => {
    const key = keys?.find(({ keyId }) => keyId === id);
    return key && models && firstKindOf(key, models);
  };
  const found = firstOf(chosen);
  const [first, setFirst] = useState<{ key: string | undefined; kind: PlayKind } | null>(null);
  // Another type would empty the form, so it stays when keys and models are read again.
  if (found && first?.key !== chosen) setFirst({ key: chosen, kind: found });
  return ({ kind, key }) => kind ?? (first?.key === key ? first?.kind : firstOf(key)) ?? 'image';
}

function Read(chosen: Pick<KindProps, 'kind' | 'kindOf'>) {
  const { again } = route.useSearch();
  const keys = useKeys();
  const own = useRead('/api/groups');
  const models = useQuery(marketQuery);
  return (
    <Loaded query={together({ models, keys, own })} lines={8}>
      {({ models: all, keys: { items }, own: { groups } }) => (
        <Again id={again}>
          {(task) => <Kind {...chosen} all={all} keys={items} own={groups} again={task} />}
        </Again>
      )}
    </Loaded>
  );
}

interface AgainProps {
  id: string | undefined;
  children: (task: Shape<'Task'> | null) => ReactNode;
}

/** A deleted task leaves the form as usual. */
function Again({ id = '', children }: AgainProps) {
  const task = useRead('/api/tasks/{taskId}', { path: { taskId: id } }, { enabled: id !== '' });
  if (id !== '' && task.isPending) return <Skeleton height={320} />;
  return children(task.data ?? null);
}

interface KindProps {
  kind: PlayKind;
  kindOf: (address: PlayAddress) => PlayKind;
  all: readonly Shape<'ListedModel'>[];
  keys: readonly Shape<'Key'>[];
  /** The groups that the account may create keys in. */
  own: readonly string[];
  again: Shape<'Task'> | null;
}

/** The model in the address, else one that its key may call, else any usable one. */
function useModel(models: readonly Shape<'ListedModel'>[], { keys, own }: KindProps) {
  const { model: named, key: chosen } = route.useSearch();
  const chosenKey = keys.find(({ keyId }) => keyId === chosen);
  return (
    models.find(({ id }) => id === named) ??
    models.find((each) => chosenKey && mayUse(chosenKey, each)) ??
    models.find((each) => isUsable(each, { keys, own })) ??
    models[0]
  );
}

function Kind(props: KindProps) {
  const { t } = useTranslation('calls');
  const { kind, kindOf, all, keys, own, again } = props;
  const models = modelsFor(kind, all);
  const model = useModel(models, props);
  if (!model) return <EmptyState {...t('play.noModels')} />;
  // Without a usable model the form would be useless.
  if (!models.some((each) => isUsable(each, { keys, own }))) return <MakeKey model={model} />;
  return (
    <Stack>
      <OtherModel model={model} />
      <OtherKey keys={keys} model={model} />
      <Workbench
        key={`${kind} ${again?.id ?? ''}`}
        kind={kind}
        kindOf={kindOf}
        again={again}
        model={model}
        models={models}
        keys={keys.filter((key) => mayUse(key, model))}
        group={widestGroup(all, { own, model })}
        isNew={!keys.some(isWorking)}
      />
    </Stack>
  );
}
