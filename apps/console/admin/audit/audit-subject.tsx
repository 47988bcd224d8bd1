import { Named } from '../../ui/named.js';
import { ID } from '../../ui/patterns.js';

const NAMED = ['account', 'user', 'key'] as const;
/** Ids begin with the time, so their ends tell them apart. */
const SHOWN_CHARS = 8;

/** Shows the subject's name if it has one, otherwise its kind and the end of its id. */
export function AuditSubject({ subject }: { subject: string }) {
  const [, word = '', id = ''] = /^([^:]+):(.*)$/s.exec(subject) ?? [];
  const kind = NAMED.find((each) => each === word);
  if (kind && ID.test(id)) return <Named kind={kind} id={id} />;
  if (id === '') return subject;
  return (
    <span title={subject} className="one-line">
      {word} {ID.test(id) ? `…${id.slice(-SHOWN_CHARS)}` : id}
    </span>
  );
}
