import { VERSION } from '../version.ts'

/**
 * The error message for data written by a later version.
 *
 * @param what e.g. `The data folder /data`
 * @param writer the version that wrote it; null if unknown
 */
export const writtenLater = (what: string, writer: string | null, detail = ''): string => {
  const by = writer === null ? 'a later version of Sheaf' : `Sheaf ${writer}`
  const advice = writer === null ? 'start that version' : `start version ${writer} or later`
  return `${what} was written by ${by}${detail}, and this is Sheaf ${VERSION}: ${advice}, or restore a backup`
}

/** True if `version` is later than `other`, e.g. `0.10.0` than `0.9.1`. */
export function isLaterVersion(version: string, other: string): boolean {
  const [parts, otherParts] = [version, other].map((text) =>
    (text.split('-')[0] ?? '').split('.').map(Number),
  )
  for (let index = 0; index < 3; index++) {
    const difference = (parts?.[index] ?? 0) - (otherParts?.[index] ?? 0)
    if (difference !== 0) return difference > 0
  }
  return false
}
