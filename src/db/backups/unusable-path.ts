/** Why a folder or file cannot be used, by the code of the operating system. */
const REASONS: Record<string, string> = {
  EACCES: 'the user of this process has no access to it',
  EPERM: 'the user of this process has no access to it',
  EROFS: 'its disk is read-only',
  ENOTDIR: 'it is a file, or below one',
  EEXIST: 'it is a file',
  EISDIR: 'it is a folder',
  ENOENT: 'it does not exist',
  ENOSPC: 'its disk is full (ENOSPC)',
  EDQUOT: 'its disk is full for the user of this process (EDQUOT)',
}

/**
 * An error that names a folder or file that cannot be used, with the reason; other errors unchanged.
 * @param path as messages begin: `The folder /mnt/backups`
 */
export function explainPath(path: string, error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const reason = Object.hasOwn(REASONS, code) ? REASONS[code] : undefined
  return reason === undefined ? error : new Error(`${path} cannot be used: ${reason}`, { cause: error })
}
