import { NacreError } from '../../src/core/errors.ts';

/** What went wrong with a file or folder, by the system's code, and what helps. */
const REASONS: Readonly<Record<string, readonly [reason: string, hint: string]>> = {
  EACCES: ['may not be opened or written', 'Choose another place, or change its permissions.'],
  EPERM: ['may not be opened or written', 'Choose another place, or change its permissions.'],
  EROFS: ['is on a read-only file system', 'Choose another place.'],
  ENOENT: ['does not exist', 'Check the path.'],
  ENOTDIR: ['lies below something that is no folder', 'Check the path.'],
  EISDIR: ['is a folder', 'Give a file.'],
  EEXIST: ['is in the way', 'Choose another place, or move it.'],
  ENAMETOOLONG: ['has too long a name', 'Choose a shorter one.'],
  ELOOP: ['is a link that leads in a circle', 'Check the path.'],
};
/** Failures of the machine, not of what was asked for. */
const FAULTS: Readonly<Record<string, readonly [reason: string, hint: string]>> = {
  ENOSPC: ['cannot be written: the disk is full', 'Make room and give the same command again; what is finished is kept.'],
  EDQUOT: ['cannot be written: the quota is used up', 'Make room and give the same command again; what is finished is kept.'],
  EIO: ['cannot be read or written: the disk reports an error', 'Check the disk.'],
  EMFILE: ['cannot be opened: too many files are open', 'Raise the limit (ulimit -n) and try again.'],
};

/** An error of Node's file system in words (`file-unusable`, `machine-fault`); any other thrown value as it is. */
export function readableError(thrown: unknown): unknown {
  if (!(thrown instanceof Error) || !('code' in thrown) || typeof thrown.code !== 'string') return thrown;
  const place = 'path' in thrown && typeof thrown.path === 'string' ? thrown.path : undefined;
  const [reason, hint] = REASONS[thrown.code] ?? [];
  if (reason !== undefined && hint !== undefined && place !== undefined) {
    return new NacreError('file-unusable', `${place} ${reason}.`, hint, { cause: thrown });
  }
  const [fault, remedy] = FAULTS[thrown.code] ?? [];
  if (fault === undefined || remedy === undefined) return thrown;
  return new NacreError('machine-fault', `${place ?? 'A file'} ${fault}.`, remedy, { cause: thrown });
}
