import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OperatorError } from '#platform/errors.js';
import { PORT } from './embedded-connection.js';
import type { PostgresBinaries } from './postgres-binaries.js';
import { roleName } from './roles.js';
import { canEnter, giveTo, makePrivateFolder, runAs, serverAccountFor } from './server-account.js';
import { filesIn, type ServerFiles } from './server-files.js';
import { lastLine } from './server-log.js';

/** sockaddr_un holds 104 bytes on macOS, 108 on Linux, with the closing zero. */
export const LONGEST_SOCKET_PATH = 103;

interface WantedCluster {
  binaries: PostgresBinaries;
  /** Where the password may lie for a moment. */
  socketDir: string;
  /** Of the admin. */
  password: string;
  fsync: string | number | undefined;
}

const CLUSTER = ['--auth=scram-sha-256', '--encoding=UTF8', '--locale=C', '--no-instructions'];

/** The folders of one server: whose they are, and how they are made. @throws OperatorError where they cannot be used */
export class ServerFolder {
  readonly files: ServerFiles;
  readonly account: ReturnType<typeof serverAccountFor>;

  constructor(private readonly dataDir: string) {
    this.files = filesIn(dataDir);
    this.account = serverAccountFor(this.files.pgdata);
    this.refuseForeignFolder();
  }

  /** The version of PostgreSQL that the data is of, if there is any. */
  majorOfData(): number | undefined {
    const file = join(this.files.pgdata, 'PG_VERSION');
    return existsSync(file) ? Number(readFileSync(file, 'utf8')) : undefined;
  }

  private refuseForeignFolder(): void {
    const self = process.getuid?.();
    const owner = statSync(this.files.pgdata, { throwIfNoEntry: false })?.uid ?? self;
    if (self !== 0 && owner !== self) {
      throw new OperatorError(
        `The data folder ${this.dataDir} belongs to another user (uid ${owner}): run as that user or root, or choose another DATA_DIR.`,
      );
    }
  }

  /** Beside the data where the path is short enough and open to the server's account, else a private temporary one. */
  makeSocketFolder(): string {
    const { account, files } = this;
    const short = Buffer.byteLength(`${files.socket}/.s.PGSQL.${PORT}`) <= LONGEST_SOCKET_PATH;
    if (short) {
      makePrivateFolder(files.socket, account);
      if (canEnter(files.socket, account)) return files.socket;
    }
    this.removeEarlierSocketFolder();
    for (const parent of new Set([tmpdir(), '/tmp'])) {
      const folder = mkdtempSync(join(parent, 'tollgate-'));
      chmodSync(folder, 0o700);
      giveTo(folder, account);
      const fits = Buffer.byteLength(`${folder}/.s.PGSQL.${PORT}`) <= LONGEST_SOCKET_PATH;
      if (fits && canEnter(folder, account)) return folder;
      rmSync(folder, { recursive: true });
    }
    throw new OperatorError('No temporary folder is suitable for the database socket. Check TMPDIR.');
  }

  /** A killed predecessor could not remove its temporary socket folder; only what it recorded is touched. */
  private removeEarlierSocketFolder(): void {
    try {
      const { socketDir } = JSON.parse(readFileSync(this.files.record, 'utf8')) as { socketDir: string };
      if (/^tollgate-\w{6}$/.test(socketDir.split('/').at(-1) ?? '')) rmSync(socketDir, { recursive: true });
    } catch {
      // There is no record, or the folder is gone already.
    }
  }

  /** Made under another name first, so that an interrupted first start leaves nothing that looks whole. */
  makeCluster(wanted: WantedCluster): void {
    const draft = `${this.files.pgdata}.new`;
    rmSync(draft, { recursive: true, force: true });
    makePrivateFolder(draft, this.account);
    const { socketDir, password, binaries, fsync } = wanted;
    const passwordFile = join(socketDir, 'admin-password');
    writeFileSync(passwordFile, password, { mode: 0o600 });
    giveTo(passwordFile, this.account);
    const folder = this.reach(draft);
    const noSync = fsync === 'off' ? ['--no-sync'] : [];
    const { status, stderr, error } = spawnSync(
      join(binaries.bin, 'initdb'),
      ['-D', folder.path, '-U', roleName('admin'), `--pwfile=${passwordFile}`, ...CLUSTER, ...noSync],
      { ...runAs(this.account), stdio: ['ignore', 'ignore', 'pipe', folder.fd], encoding: 'utf8' },
    );
    closeSync(folder.fd);
    rmSync(passwordFile);
    if (status !== 0) {
      throw new OperatorError(
        `Cannot create a database in ${this.dataDir}: ${error?.message ?? lastLine(stderr)}`,
      );
    }
    renameSync(draft, this.files.pgdata);
  }

  /**
   * A path by which the server's account reaches a folder. When a parent is closed to it, the open folder itself is
   * handed over as descriptor 3, and /proc leads there without passing the parents.
   */
  reach(folder: string): { path: string; fd: number } {
    const fd = openSync(folder, 'r');
    if (canEnter(folder, this.account)) return { path: folder, fd };
    if (process.platform === 'linux') return { path: '/proc/self/fd/3', fd };
    closeSync(fd);
    throw new OperatorError(
      `The user that runs the database cannot access ${folder}: choose another DATA_DIR.`,
    );
  }
}
