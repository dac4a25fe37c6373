import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, realpathSync, renameSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { NacreError } from '../../src/core/errors.ts';
import { FileJournal } from './file-journal.ts';
import { readableError } from './system-error.ts';

/** What of a run must be the same when a folder is used again. */
interface RunHead {
  readonly config: unknown;
  readonly createdAt: number;
}

/** Units that say how long work took; alone they are no work. */
const CLOCK_UNITS: ReadonlySet<string> = new Set(['seconds']);

/** The folder of one run: its configuration, journal and results, held by one process at a time. */
export class RunFolder {
  private constructor(
    readonly path: string,
    readonly createdAt: number,
    readonly journal: FileJournal,
    private readonly lock: Server | undefined,
  ) {}

  /**
   * Makes the folder, or opens it again for the same configuration. A folder in which no work was finished may change hands.
   * @param problem what is wrong with a unit of the journal, or undefined
   * @throws {NacreError} `out-unusable`, `run-folder-busy`, `run-folder-taken`, `run-folder-damaged`, `journal-invalid`
   */
  static async open(path: string, config: object, problem?: (key: string, value: unknown) => string | undefined): Promise<RunFolder> {
    try {
      makeFolder(path);
    } catch (cause) {
      const readable = readableError(cause);
      const reason = readable instanceof Error ? readable.message : String(readable);
      throw new NacreError('out-unusable', `--out: the folder cannot be made: ${reason}`, 'Give a folder that can be written.', { cause });
    }
    const lock = await lockFolder(path);
    try {
      const journal = new FileJournal(join(path, 'journal.jsonl'), problem);
      const head = openHead(path, config, journal);
      return new RunFolder(path, head.createdAt, journal, lock);
    } catch (thrown) {
      lock?.close();
      throw thrown;
    }
  }

  /** Writes a result whole or not at all. */
  write(name: string, content: string | Uint8Array): void {
    writeWhole(join(this.path, name), content);
  }

  close(): void {
    this.lock?.close();
  }
}

function openHead(folder: string, config: object, journal: FileJournal): RunHead {
  const path = join(folder, 'run.json');
  const started = [...journal.entries().keys()].some((key) => !CLOCK_UNITS.has(key));
  if (started) {
    const head = readHead(path);
    if (JSON.stringify(head.config) === JSON.stringify(config)) return head;
    throw new NacreError(
      'run-folder-taken',
      `--out: ${folder} holds a run of another configuration or seed.`,
      'Choose another folder, or delete that one.',
    );
  }
  const head: RunHead = { config, createdAt: Date.now() };
  writeWhole(path, `${JSON.stringify(head, null, 2)}\n`);
  return head;
}

function readHead(path: string): RunHead {
  const damaged = (what: string): NacreError =>
    new NacreError(
      'run-folder-damaged',
      `--out: ${path} ${what}, so it is unknown which experiment the journal beside it belongs to.`,
      'Choose another folder, or delete that one.',
    );
  if (!existsSync(path)) throw damaged('is missing');
  let head: unknown;
  try {
    head = JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    if (cause instanceof SyntaxError) throw damaged('is not JSON');
    throw cause;
  }
  if (typeof head !== 'object' || head === null || !('config' in head) || !('createdAt' in head) || typeof head.createdAt !== 'number') {
    throw damaged('lacks its fields');
  }
  return head as RunHead;
}

/** Makes a folder and those above it. (Node's own recursive way never returns where the system refuses, as in /proc.) */
function makeFolder(path: string): void {
  if (existsSync(path)) {
    if (statSync(path).isDirectory()) return;
    throw new NacreError('out-unusable', `"${path}" is a file.`, 'Give a folder.');
  }
  if (dirname(path) !== path) makeFolder(dirname(path));
  mkdirSync(path);
}

function writeWhole(path: string, content: string | Uint8Array): void {
  const draft = `${path}.${process.pid}.part`;
  writeFileSync(draft, content);
  try {
    renameSync(draft, path);
  } catch (thrown) {
    unlinkSync(draft);
    throw thrown;
  }
}

/** Holds a folder as long as this process lives: a socket named after it, which the system gives back however the process ends. */
async function lockFolder(folder: string): Promise<Server | undefined> {
  const name = `nacre-${createHash('sha256').update(realpathSync(folder)).digest('hex').slice(0, 24)}`;
  const address = process.platform === 'win32' ? `\\\\.\\pipe\\${name}` : join(tmpdir(), `${name}.sock`);
  const server = await tryListen(address);
  if (server !== 'taken') return server;
  if (await answers(address)) {
    throw new NacreError(
      'run-folder-busy',
      `--out: another nacre command is working in ${folder}.`,
      'Wait until it has finished, or choose another folder.',
    );
  }
  unlinkSync(address);
  const second = await tryListen(address);
  if (second !== 'taken') return second;
  throw new NacreError('run-folder-busy', `--out: another nacre command began to work in ${folder}.`, 'Choose another folder.');
}

/** Where sockets cannot be made at all, folders are not locked, and a line on stderr says so. */
function tryListen(address: string): Promise<Server | 'taken' | undefined> {
  return new Promise((resolve) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve('taken');
      else {
        process.stderr.write(`The folder is not locked (${error.message}): do not run two commands in it at once.\n`);
        resolve(undefined);
      }
    });
    server.listen(address, () => {
      server.unref();
      resolve(server);
    });
  });
}

function answers(address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(address);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
