import { useForm, type UseFormReturnType } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, refresh, type Shape } from '../../api/client.js';
import { isSignedIn, useSession } from '../../shell/session.js';
import { compareDecimals } from '../../ui/decimal.js';
import { useSend } from '../../ui/forms/form.js';
import { callOf, isPricedBySound, type PlayKind, type PlayValues } from './call.js';
import { forgetResult, keepResult, keptResult } from './kept-result.js';
import { type PendingCall, savePendingCall, takePendingCall } from './pending-call.js';
import { play, type Played } from './play.js';
import { priceNow, type PricePlace, refreshQuotes, usePrice } from './price-before.js';
import { keepNewKey } from '../new-key.js';

const route = getRouteApi('/user/playground');

export interface Playing {
  kind: PlayKind;
  model: Shape<'ListedModel'>;
  /** Null: no working key yet; the first call creates one. */
  key: Shape<'Key'> | null;
  place: PricePlace | null;
  /** The task to try again. */
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

/** Leaves out what no field shows: the size, and sound for models without the switch. */
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

type PlayForm = UseFormReturnType<PlayValues>;

interface Beginning {
  /** The call that waited for credits. */
  pending: PendingCall | null;
  /** The last result, from before a reload. */
  before: ReturnType<typeof keptResult>;
}

/** Filled with the waiting call, the task to try again or the last prompt; new accounts see a sample. */
function useCallForm({ kind, model, key, again }: Playing, { pending, before }: Beginning) {
  const { t } = useTranslation('calls');
  const sample = key === null ? t(`play.samples.${kind}`) : '';
  return useForm<PlayValues>({
    initialValues: {
      ...initialValues(model, before?.prompt ?? sample),
      ...(again && valuesOf(again, model)),
      ...pending?.values,
    },
    // It was never made, so it would be lost.
    initialDirty: pending ? { prompt: true } : {},
    validate: {
      prompt: (value) => (value.trim() ? null : t('play.promptMissing')),
      image: (value) => (kind === 'edit' && value === null ? t('play.imageMissing') : null),
    },
  });
}

type CallPrice = ReturnType<typeof usePrice>['current'];

/** The form, its price and the last result. */
export function usePlay(playing: Playing) {
  const { kind, model, place, again } = playing;
  const userId = useSession()?.userId;
  const [pending] = useState(() => takePendingCall(kind, userId));
  const [before] = useState(() => (pending || again ? null : keptResult(kind, userId)));
  const form = useCallForm(playing, { pending, before });
  const price = usePrice({ kind, model, place, values: form.values });
  const { current } = price;
  const parts = { form, pending, before, seen: current?.amount ?? null };
  const { sending, askAgain, ...sent } = useSending(playing, parts);
  useResume({ pending, model: model.id, price: current, send: () => sending.onSubmit(), askAgain });
  const { open, ...topUp } = useTopUp(playing, { form, price: current });
  return {
    form,
    price,
    ...sent,
    /** Nothing is sent before its price is shown. */
    isPricing: current === null && price.quote.error === null,
    sending: lacksCredits(current) ? { ...sending, onSubmit: form.onSubmit(open) } : sending,
    topUp,
  };
}

function lacksCredits(price: CallPrice): boolean {
  return price !== null && !price.covered && compareDecimals(price.balance, price.amount) < 0;
}

interface Wanted {
  form: PlayForm;
  price: CallPrice;
}

/** The call is made once the order is paid. */
function useTopUp({ kind, model }: Playing, { form, price }: Wanted) {
  const userId = useSession()?.userId;
  const [opened, { open, close }] = useDisclosure(false);
  const ordered = (orderId: string) => {
    if (userId === undefined || price === null) return;
    const { image: _file, ...values } = form.getValues();
    savePendingCall({ orderId, kind, model: model.id, values, amount: price.amount }, userId);
    form.resetDirty();
  };
  return { opened, open, close, ordered };
}

interface SendingParts extends Beginning {
  form: PlayForm;
  seen: string | null;
}

/** The last result, kept across reloads. */
function usePlayed({ kind }: Playing, { form, before }: SendingParts) {
  const navigate = route.useNavigate();
  const [played, setPlayed] = useState<Played | null>(before?.result ?? null);
  const forget = () => {
    setPlayed(null);
    forgetResult(kind);
  };
  const show = async (result: Played, userId: string | undefined) => {
    // Who made the call may have signed out since; then nothing of theirs is shown or kept.
    if (userId === undefined || !isSignedIn(userId)) return;
    setPlayed(result);
    if (result.kind === 'task')
      await navigate({ search: (search) => ({ ...search, task: result.taskId }), replace: true });
    else keepResult(kind, { userId, prompt: form.getValues().prompt, result });
    await Promise.all([refresh('/api/usage', '/api/tasks', '/api/account'), refreshQuotes()]);
  };
  return { played, forget, show };
}

/** Makes the call unless its price has changed. */
function useCall({ kind, model, key, place }: Playing, { pending, seen }: SendingParts) {
  const { t } = useTranslation('calls');
  const leaving = useRef<AbortController>(null);
  // Named, so that even in a duplicated tab the waiting call is made once.
  const name = useRef(pending?.orderId ?? null);
  const call = async (values: PlayValues): Promise<Played | null> => {
    leaving.current = new AbortController();
    const { signal } = leaving.current;
    const group = place && 'group' in place ? place.group : '';
    const keyId = key?.keyId ?? (await firstKey(group, t('play.keyName')));
    const now = await priceNow({ kind, model, values }, keyId);
    if (seen === null || compareDecimals(now, seen) !== 0) return null;
    const once = name.current;
    name.current = null;
    return play(callOf(kind, model.id, values), { keyId, signal, name: once });
  };
  return { call, cancel: () => leaving.current?.abort(), hasLeft: () => leaving.current?.signal.aborted };
}

function useSending(playing: Playing, parts: SendingParts) {
  const { played, forget, show } = usePlayed(playing, parts);
  const { call, cancel, hasLeft } = useCall(playing, parts);
  const userId = useSession()?.userId;
  const [hasOtherPrice, setOtherPrice] = useState(false);
  const sending = useSend({
    form: parts.form,
    send: async (values) => {
      forget();
      setOtherPrice(false);
      return { userId, result: await call(values) };
    },
    done: ({ userId: caller, result }, values) => {
      if (result === null) return setOtherPrice(true);
      parts.form.resetDirty(values);
      return show(result, caller);
    },
    refused: ({ code }) => code === 'unreachable' && hasLeft() === true,
  });
  return { sending, played, hasOtherPrice, askAgain: () => setOtherPrice(true), cancel };
}

interface Resuming {
  pending: PendingCall | null;
  /** The page's model; the call's may be gone. */
  model: string;
  price: { amount: string; covered: boolean } | null;
  send: () => void;
  askAgain: () => void;
}

/** Makes the waiting call if its price is unchanged; otherwise asks again. */
function useResume({ pending, model, price, send, askAgain }: Resuming): void {
  const isOver = useRef(pending === null);
  useEffect(() => {
    if (isOver.current || price === null || pending === null) return;
    isOver.current = true;
    if (model !== pending.model || compareDecimals(price.amount, pending.amount) !== 0) askAgain();
    else if (price.covered) send();
  });
}

/** A new account's first key; if it is created here, its secret is kept for code. */
async function firstKey(group: string, name: string): Promise<string> {
  const { keyId, apiKey } = (await api.POST('/api/keys/first', { body: { name, group } })).data!;
  if (apiKey !== null) keepNewKey({ keyId, apiKey });
  await refresh('/api/keys');
  return keyId;
}
