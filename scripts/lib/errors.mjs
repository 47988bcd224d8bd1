// docs/errors.md: every error code, with what to do.

const INTRODUCTION = `# Errors

<!-- Written by \`npm run reference\` from libs/platform/http/error-help.ts. -->

Every error has a code, an HTTP status and a message that says what to do. Check the code in your programs, because messages may
change.

| API       | error code            | invalid field                     |
| --------- | --------------------- | --------------------------------- |
| OpenAI    | \`error.code\`          | \`error.param\`                     |
| Google    | \`error.details[].reason\`, and \`code\` | \`error.details[].metadata.param\` |
| Anthropic | \`error.details.error_code\` | \`error.details.param\`         |

\`\`\`json
{
  "error": {
    "message": "No available channel for model vendora-imagine-imag under group Vendora-Main.",
    "type": "invalid_request_error",
    "param": "model",
    "code": "model_not_found"
  }
}
\`\`\`

- SDKs retry 408, 409, 429 and 5xx automatically. Tollgate sends these only if nothing stays charged; otherwise the answer has
  \`x-should-retry: false\`.
- Every answer has an \`x-request-id\`. Use it to find the request under Logs in the console, or when you contact support.
`;

/** @param {(alias: string) => Promise<object>} load imports a module of the project by its alias */
export async function errorsPage(load) {
  const { errorTable } = await load('#platform/errors.js');
  const { errorHelp } = await load('#platform/http/error-help.js');
  const byStatus = Map.groupBy(Object.entries(errorTable), ([, { status }]) => status);
  const sections = [...byStatus]
    .sort(([a], [b]) => a - b)
    .map(
      ([status, entries]) =>
        `## ${status}\n\n${entries.map(([code]) => entryOf(code, errorHelp[code])).join('\n\n')}`,
    );
  return `${INTRODUCTION}\n${sections.join('\n\n')}\n`;
}

/** The heading is the code, so that every mention can link to it. */
function entryOf(code, help) {
  return `### \`${code}\` {#${code.replaceAll('_', '-')}}\n\n${help}`;
}
