/** Covers what samples use of bash, JavaScript, Python and JSON. */
const PARTS =
  /(?<comment>(?<!\S)(?:#|\/\/)[^\n]*)|(?<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\])*'|`[^`]*`)|(?<word>\b(?:async|await|const|for|from|if|import|in|let|new|not|return|throw|while|curl|print)\b)/g;
const KINDS = ['comment', 'text', 'word'] as const;

interface CodePart {
  /** Null if it has no colour. */
  kind: (typeof KINDS)[number] | null;
  code: string;
}

/** Splits code into comments, strings, keywords and the rest. */
export function codeParts(code: string): CodePart[] {
  const parts: CodePart[] = [];
  let end = 0;
  for (const { 0: part, index, groups } of code.matchAll(PARTS)) {
    const kind = KINDS.find((each) => groups?.[each] !== undefined) ?? null;
    parts.push({ kind: null, code: code.slice(end, index) }, { kind, code: part });
    end = index + part.length;
  }
  return [...parts, { kind: null, code: code.slice(end) }];
}
