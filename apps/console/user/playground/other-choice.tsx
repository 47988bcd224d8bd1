import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/client.js';
import { Notice } from '../../ui/notice.js';
import { useKeys } from '../keys.js';
import { mayUse } from './usable.js';

const route = getRouteApi('/user/playground');

/** The model in the address is unavailable: says which one replaces it. */
export function OtherModel({ model }: { model: Shape<'ListedModel'> }) {
  const { t } = useTranslation('calls');
  const { model: named } = route.useSearch();
  if (named === undefined || named === model.id) return null;
  return (
    <Notice tone="warning" role="status">
      {t('play.otherModel', { model: named, other: model.id })}
    </Notice>
  );
}

interface OtherKeyProps {
  keys: readonly Shape<'Key'>[];
  model: Shape<'ListedModel'>;
}

/** The key in the address cannot make the call: says which one is charged. */
export function OtherKey({ keys, model }: OtherKeyProps) {
  const { t } = useTranslation('calls');
  const { key: chosen } = route.useSearch();
  const isReading = useKeys().isFetching;
  const usable = keys.filter((key) => mayUse(key, model));
  const other = usable[0]?.name;
  if (chosen === undefined || other === undefined || usable.some(({ keyId }) => keyId === chosen))
    return null;
  const key = keys.find(({ keyId }) => keyId === chosen)?.name;
  // The cached list may lack a new key.
  if (key === undefined && isReading) return null;
  return (
    <Notice tone="warning" role="status">
      {key === undefined
        ? t('play.keyNotFound', { other })
        : t('play.otherKey', { key, model: model.id, other })}
    </Notice>
  );
}
