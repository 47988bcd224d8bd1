import { useForm } from '@mantine/form';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { refresh } from '../../api/queries.js';
import { queryClient } from '../../api/client.js';
import type { Shape } from '../../api/shape.js';
import { useSession } from '../../shell/session.js';
import { compareDecimals } from '../../ui/decimal.js';
import { type SendableForm, useSend } from '../../ui/forms/form.js';
import { callOf, isPricedBySound, type PlayKind, type PlayValues } from './call.js';
import { firstKey } from './first-key.js';
import { forgetResult, keepResult, keptResult } from './kept-result.js';
import { type PendingCall, savePendingCall, takePendingCall } from './pending-call.js';
import { type Played, play } from './play.js';
import { type PricePlace, priceNow, usePrice } from './price-before.js';

const route = getRouteApi('/user/playground');

export interface Playing {
  kind: PlayKind;
  model: Shape<'ListedModel'>;
  /** Null: the account has none that works; the first call creates one. */
  key: Shape<'Key'> | null;
  place: PricePlace | null;
  /** A task whose prompt and settings are tried again. */
  again: Shape<'Task'> | null;
}

function initialValues(model: Shape<'ListedModel'>, prompt: string): PlayValues {
  return {
    prompt,
    n: 1,
    size: '',
    aspect_ratio: '',
    resolution: '',
    generate_audio: true,
    seconds: model.limits.defaultSeconds ?? 5,
    voice: 'alloy',
    image: null,
  };
}

/** Without what no field would show or change: the size, of which the task has what it came to, and sound without a switch. */
function valuesOf(
  { prompt, seconds, aspectRatio, resolution, audio }: Shape<'Task'>,
  model: Shape<'ListedModel'>,
): Partial<PlayValues> {
  return {
    generate_audio: audio !== false || !isPricedBySound(model),
    prompt,
    aspect_ratio: aspectRatio ?? '',
    resolution: resolution ?? '',
    ...(seconds === null ? {} : { seconds }),
  };
}

/** The form of a call, its price, and what came of the last one that was sent. */
export function usePlay(playing: Playing) {
  const { kind, model, key, place, again } = playing;
  const { t } = useTranslation('calls');
  const userId = useSession()?.userId;
  const [pending] = useState(() => takePendingCall(kind, userId));
  const [before] = useState(() => (pending || again ? null : keptResult(kind, userId)));
  const sample = key === null ? t(`play.samples.${kind}`) : '';
  const form = useForm<PlayValues>({
    initialValues: {
      ...initialValues(model, before?.prompt ?? sample),
      ...(again && valuesOf(again, model)),
      ...pending?.values,
    },
    validate: {
      prompt: (value) => (value.trim() ? null : t('play.promptMissing')),
      image: (value) => (kind === 'edit' && value === null ? t('play.imageMissing') : null),
    },
  });
  const price = usePrice({ kind, model, place, values: form.values });
  const { current } = price;
  const [isShort, setShort] = useState(false);
  const seen = current?.amount ?? null;
  const { sending, askAgain, ...sent } = useSending(playing, { form, pending, before, seen });
  useResume({ pending, model: model.id, price: current, send: () => sending.onSubmit(), askAgain });
  const lacksCredits =
    current !== null && !current.covered && compareDecimals(current.balance, current.amount) < 0;
  const onSubmit: typeof sending.onSubmit = lacksCredits
    ? form.onSubmit(() => setShort(true))
    : sending.onSubmit;
  return {
    form,
    price,
    ...sent,
    /** The price of what is typed is on its way: nothing is sent at a price that nobody saw. */
    isPricing: current === null && price.quote.error === null,
    sending: { ...sending, onSubmit },
    topUp: {
      opened: isShort,
      close: () => setShort(false),
      /** The call is made when the order is paid. */
      ordered: (orderId: string) => {
        if (userId === undefined || current === null) return;
        const { image: _file, ...values } = form.getValues();
        savePendingCall({ orderId, kind, model: model.id, values, amount: current.amount }, userId);
      },
    },
  };
}

interface SendingParts {
  form: SendableForm<PlayValues>;
  pending: PendingCall | null;
  /** What the last call came to, before the page was loaded again. */
  before: { result: Played } | null;
  /** The price that the page shows, in credits. */
  seen: string | null;
}

function useSending({ kind, model, key, place }: Playing, { form, pending, before, seen }: SendingParts) {
  const { t } = useTranslation('calls');
  const navigate = route.useNavigate();
  const userId = useSession()?.userId;
  const [played, setPlayed] = useState(before?.result ?? null);
  const [hasOtherPrice, setOtherPrice] = useState(false);
  const leaving = useRef<AbortController>(null);
  // In a copy of this tab, too, the call that waited is made once.
  const name = useRef(pending?.orderId ?? null);
  const sending = useSend({
    form,
    send: async (values) => {
      setPlayed(null);
      forgetResult(kind);
      setOtherPrice(false);
      leaving.current = new AbortController();
      const { signal } = leaving.current;
      const keyId =
        key?.keyId ?? (await firstKey(place && 'group' in place ? place.group : '', t('play.keyName')));
      const now = await priceNow({ kind, model, values }, keyId);
      if (seen === null || compareDecimals(now, seen) !== 0) return null;
      const once = name.current;
      name.current = null;
      return play(callOf(kind, model.id, values), { keyId, signal, name: once });
    },
    done: async (result) => {
      if (result === null) return setOtherPrice(true);
      setPlayed(result);
      if (result.kind !== 'task' && userId !== undefined)
        keepResult(kind, { userId, prompt: form.getValues().prompt, result });
      if (result.kind === 'task')
        await navigate({ search: (before) => ({ ...before, task: result.taskId }), replace: true });
      await refresh('/api/usage', '/api/tasks', '/api/account');
      // A quote contains the balance, too.
      await queryClient.invalidateQueries({ queryKey: ['post', '/api/quote'] });
    },
    refused: ({ code }) => code === 'unreachable' && leaving.current?.signal.aborted === true,
  });
  return {
    sending,
    played,
    hasOtherPrice,
    askAgain: () => setOtherPrice(true),
    cancel: () => leaving.current?.abort(),
  };
}

interface Resuming {
  pending: PendingCall | null;
  /** That of the page: the one of the call may be gone. */
  model: string;
  price: { amount: string; covered: boolean } | null;
  send: () => void;
  askAgain: () => void;
}

/** Makes the call that waited for credits, once its price is known to be the one that was seen; else people are asked again. */
function useResume({ pending, model, price, send, askAgain }: Resuming): void {
  const isOver = useRef(pending === null);
  useEffect(() => {
    if (isOver.current || price === null || pending === null) return;
    isOver.current = true;
    if (model !== pending.model || compareDecimals(price.amount, pending.amount) !== 0) askAgain();
    else if (price.covered) send();
  });
}
