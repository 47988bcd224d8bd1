import { Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type Shape, useRead } from '../../api/client.js';
import { together } from '../../api/together.js';
import { Loaded } from '../../ui/states.js';
import { Connect } from '../../visitor/connect.js';
import { marketQuery } from '../../visitor/market/market-query.js';
import { FirstRequest } from '../first-request.js';
import { KeyForCode } from '../key-for-code.js';
import { useKeys } from '../keys.js';
import { useNewKey } from '../new-key.js';
import { widestGroup } from '../widest-group.js';
import { modelsFor } from '../playground/usable.js';
import { sampleModels } from './sample-models.js';

/** Code with a key from this tab, and the receipt of its first call. */
export function OwnCode() {
  const own = useRead('/api/groups');
  const models = useQuery(marketQuery);
  return (
    <Loaded query={together({ models, own })} lines={8}>
      {(all) => <Code models={all.models} own={all.own.groups} />}
    </Loaded>
  );
}

interface CodeProps {
  models: readonly Shape<'ListedModel'>[];
  /** The groups that the account may create keys in. */
  own: readonly string[];
}

function Code({ models, own }: CodeProps) {
  const kept = useNewKey();
  const keys = useKeys().data?.items;
  const group = groupForCode(models, own);
  const key = keys?.find(({ keyId }) => keyId === kept?.keyId);
  return (
    <Stack>
      <KeyForCode group={group ?? ''} isFilled={kept !== null} />
      <Connect apiKey={kept?.apiKey ?? null} models={sampleModels(models, key ?? { group })} />
      <FirstRequest keyId={kept?.keyId ?? null} />
    </Stack>
  );
}

/** The widest group with a model of the first type that can be called at all. */
function groupForCode(models: CodeProps['models'], own: CodeProps['own']): string | null {
  const firsts = (['image', 'video', 'chat', '3d', 'speech'] as const).flatMap((kind) =>
    modelsFor(kind, models),
  );
  for (const model of firsts) {
    const group = widestGroup(models, { own, model });
    if (group !== null) return group;
  }
  return null;
}
