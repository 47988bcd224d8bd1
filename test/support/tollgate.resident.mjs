// Runs the built command line in a process that stays, since loading it takes longer than most commands. Each command
// gets its own arguments and environment. A command is over when its process would end: when nothing keeps the process
// alive.
import { resolve } from 'node:path';

const main = resolve(process.argv[2]);
const written = { stdout: '', stderr: '' };
let commands = 0;

for (const name of ['stdout', 'stderr']) {
  process[name].write = (chunk, encoding, done = encoding) => {
    written[name] += chunk;
    if (typeof done === 'function') process.nextTick(done);
    return true;
  };
}

process.on('message', ({ args, env }) => {
  commands += 1;
  process.argv.splice(1, Infinity, main, ...args);
  process.env = env;
  process.channel.unref();
  // Each command gets a separate name, because a module of the same name runs only once.
  void import(`${main}?command=${commands}`);
});

process.once('disconnect', () => process.exit());

process.on('beforeExit', (code) => {
  process.channel.ref();
  process.send({ code, ...written });
  Object.assign(written, { stdout: '', stderr: '' });
  process.exitCode = undefined;
});
