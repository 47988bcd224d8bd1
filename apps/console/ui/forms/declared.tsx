import { useForm, type UseFormInput } from '@mantine/form';
import { Fragment, type ReactNode } from 'react';
import type { Entered, FormFields, Sent } from './field.js';
import { LeaveGuard } from './leave-guard.js';
import { SendForm, type SendFormProps, type SendOptions, useSend } from './form.js';

export interface FormOptions<F extends FormFields, Answer> {
  /** By their names on the server, in order. */
  fields: F;
  /** Calls the server with what was entered; it throws ApiFailure. */
  send: (values: Sent<F>) => Promise<Answer>;
  /** Refreshes what it changed. */
  reread?: () => Promise<void>;
  /** The notice shown afterwards. */
  success?: (answer: Answer, values: Sent<F>) => string;
  /** What else to do. */
  done?: (answer: Answer, values: Sent<F>) => unknown;
  refused?: SendOptions<Entered<F>, Answer>['refused'];
  /** Fields that are hidden, depending on the others. Their values are sent all the same. */
  hidden?: (values: Entered<F>) => readonly (keyof F)[];
  /** Errors that concern several fields, such as one of two missing. */
  faults?: (values: Entered<F>) => { [Name in keyof F]?: string | false };
  /** Changes that follow from a change, such as the unit of another model type. */
  follow?: (now: Entered<F>, before: Entered<F>) => Partial<Entered<F>> | null;
  /** Clears the form after it was sent. */
  isRepeated?: boolean;
  /** Can be left without a question, because little would be lost. */
  isShort?: boolean;
}

export interface FormProps<F extends FormFields, Answer>
  extends FormOptions<F, Answer>, Omit<SendFormProps, 'sending' | 'children'> {
  /** Above the fields: what will happen. */
  children?: ReactNode;
  /** Below them. */
  foot?: ReactNode;
}

/** A form of declared fields, with their errors and a button. Use it for every form that needs no more. */
export function Form<F extends FormFields, Answer>(props: FormProps<F, Answer>) {
  const { fields, hidden, isShort, children, foot, submit, aside } = props;
  const { button = {}, isWide = false } = props;
  const { form, sending } = useDeclared(props);
  return (
    <SendForm sending={sending} submit={submit} button={button} isWide={isWide} aside={aside}>
      {!isShort && <LeaveGuard isDirty={form.isDirty} />}
      {children}
      <FieldRows fields={fields} form={form} hidden={new Set(hidden?.(form.getValues()))} />
      {foot}
    </SendForm>
  );
}

function useDeclared<F extends FormFields, Answer>(options: FormOptions<F, Answer>) {
  const { fields, follow, refused } = options;
  type Values = Entered<F>;
  const form = useForm<Values>({
    initialValues: mapped(fields, ({ initial }) => initial) as Values,
    validate: ((values: Values) => faultsOf(options, values)) as UseFormInput<Values>['validate'],
    onValuesChange: (now, before) => {
      const changes = follow?.(now, before);
      if (changes) form.setValues(changes);
    },
  });
  const read = (values: Values) => mapped(fields, (field, name) => field.read(values[name])) as Sent<F>;
  const sending = useSend({
    form,
    send: (values) => options.send(read(values)),
    done: (answer: Answer, values) => {
      if (options.isRepeated) form.reset();
      else form.resetDirty();
      return finish(options, answer, read(values));
    },
    ...(refused ? { refused } : {}),
  });
  return { form, sending };
}

async function finish<F extends FormFields, Answer>(
  { reread, success, done }: FormOptions<F, Answer>,
  answer: Answer,
  values: Sent<F>,
): Promise<void> {
  await reread?.();
  // Pages for visitors show no notices, and load as little as possible.
  if (success) (await import('../../shell/notices.js')).notify(success(answer, values));
  await done?.(answer, values);
}

/** The errors of the shown fields, and those between them. */
function faultsOf<F extends FormFields, Answer>(options: FormOptions<F, Answer>, values: Entered<F>) {
  const { fields, hidden, faults } = options;
  const left = new Set(hidden?.(values));
  const own = mapped(fields, (field, name) => !left.has(name) && field.fault(values[name]));
  const between = Object.entries(faults?.(values) ?? {}).filter(([name, said]) => said && !left.has(name));
  return { ...own, ...Object.fromEntries(between) };
}

function mapped<F extends FormFields>(
  fields: F,
  of: (field: F[keyof F & string], name: keyof F & string) => unknown,
) {
  const names = Object.keys(fields) as (keyof F & string)[];
  return Object.fromEntries(names.map((name) => [name, of(fields[name]!, name)]));
}

/** What fields use of the library's `useForm`. */
interface FieldsForm {
  getInputProps: (name: string, options?: { type: 'checkbox' | 'input' }) => object;
  getValues: () => Record<string, unknown>;
  key: (name: string) => string;
}

interface FieldRowsProps {
  fields: FormFields;
  form: FieldsForm;
  hidden: ReadonlySet<PropertyKey>;
}

/** Fields below each other; neighbouring halves share a row. */
function FieldRows({ fields, form, hidden }: FieldRowsProps) {
  const drawn = (name: string) => {
    const field = fields[name]!;
    return (
      <Fragment key={form.key(name)}>
        {field.draw(form.getInputProps(name, { type: field.isTicked ? 'checkbox' : 'input' }))}
        {field.below?.(form.getValues()[name])}
      </Fragment>
    );
  };
  return rowsOf(fields, hidden).map(([first = '', ...others]) =>
    others.length === 0 ? (
      drawn(first)
    ) : (
      <div key={first} className="field-row">
        {[first, ...others].map(drawn)}
      </div>
    ),
  );
}

function rowsOf(fields: FormFields, hidden: ReadonlySet<PropertyKey>): string[][] {
  const rows: string[][] = [];
  let wasHalf = false;
  for (const [name, { isHalf = false }] of Object.entries(fields)) {
    if (hidden.has(name)) continue;
    if (isHalf && wasHalf) rows.at(-1)!.push(name);
    else rows.push([name]);
    wasHalf = isHalf;
  }
  return rows;
}
