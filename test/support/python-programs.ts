import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface ProgramResult {
  code: number;
  /** Both streams. */
  output: string;
}

/** Runs the script once for each list of arguments, each time with its output in a separate file. */
const MANY_TIMES = `
import json, os, runpy, sys, tempfile
program, calls = sys.argv[1], json.loads(sys.argv[2])
screen = [os.dup(1), os.dup(2)]
results = []
for arguments in calls:
    sys.argv = [program] + arguments
    with tempfile.TemporaryFile() as output:
        for stream in (1, 2): os.dup2(output.fileno(), stream)
        code = 0
        try:
            runpy.run_path(program, run_name='__main__')
        except SystemExit as end:
            code = 0 if end.code is None else end.code if isinstance(end.code, int) else 1
        except BaseException as error:
            code = 1
            print(repr(error))
        sys.stdout.flush(); sys.stderr.flush()
        for stream in (1, 2): os.dup2(screen[stream - 1], stream)
        output.seek(0)
        results.append({'code': code, 'output': output.read().decode()})
print(json.dumps(results))`;

/** Runs a Python program from the PATH with several lists of arguments. Python starts only once. */
export async function runPythonProgram(
  program: string,
  calls: readonly (readonly string[])[],
): Promise<ProgramResult[]> {
  const { path, interpreter } = await findScript(program);
  const { stdout } = await run(interpreter, ['-c', MANY_TIMES, path, JSON.stringify(calls)], {
    maxBuffer: 1e8,
  });
  return JSON.parse(stdout) as ProgramResult[];
}

async function findScript(program: string): Promise<{ path: string; interpreter: string }> {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const path = join(folder, program);
    const text = await readFile(path, 'utf8').catch(() => null);
    const interpreter = /^#!\s*(\S+)/.exec(text ?? '')?.[1];
    if (interpreter) return { path, interpreter: interpreter.endsWith('/env') ? 'python3' : interpreter };
  }
  throw new Error(`There is no Python script ${program} on the PATH.`);
}
