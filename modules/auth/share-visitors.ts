import { LRUCache } from 'lru-cache'
import { nowMs } from '../../src/clock.ts'
import type { ShareActor } from '../../src/core/actor.ts'
import { AppError, notFound } from '../../src/core/errors.ts'
import {
  readPasswordHeader,
  SHARE_HEADERS,
  SHARE_KINDS,
  SHARE_PASSWORD_HEADER,
  type ShareKind,
  shareSettings,
} from '../../src/core/shares.ts'
import type { Kernel } from '../../src/kernel.ts'
import { m } from '../../src/messages.gen.ts'
import { MAX_PASSWORD_LENGTH, verifyPassword } from './credentials.ts'
import type { ShareRow, Shares } from './shares.ts'
import { createThrottle } from './throttle.ts'

/** Correct passwords are cached, since verifying one is slow on purpose. */
const MAX_REMEMBERED = 10_000

/**
 * Identifies visitors of public links. Each request looks up its link, so that closing takes effect at once.
 */
export function createShareVisitors({ log, limits }: Pick<Kernel, 'log' | 'limits'>, shares: Shares) {
  const throttle = createThrottle({ limits, name: 'wrong passwords of links' })
  const known = new LRUCache<string, true>({ max: MAX_REMEMBERED })
  const checking = new Map<string, Promise<void>>()

  /** @throws INVALID_SHARED_VIEW_PASSWORD; TOO_MANY_REQUESTS after many wrong ones */
  async function checkPassword({ id, passwordHash }: ShareRow, given: string | null, address: string) {
    if (passwordHash === null) return
    if (given === null || given === '') throw wrongPassword()
    // Contains the hash, so that a changed password invalidates the cached one.
    const key = new Bun.CryptoHasher('sha256').update(JSON.stringify([id, passwordHash, given])).digest('hex')
    // Before the cache: otherwise a blocked guesser could still tell a correct password.
    throttle.refuse(`share ${id}`, address)
    if (known.has(key)) return
    // A page sends several requests at once: they count as one attempt.
    const running = checking.get(key) ?? verify(id, passwordHash, given, address)
    checking.set(key, running)
    try {
      await running
      known.set(key, true)
    } finally {
      checking.delete(key)
    }
  }

  const verify = (id: string, passwordHash: string, given: string, address: string): Promise<void> =>
    throttle.attempt(`share ${id}`, address, async () => {
      const isRight = given.length <= MAX_PASSWORD_LENGTH && (await verifyPassword(given, passwordHash))
      if (!isRight) throw wrongPassword()
    })

  /**
   * The row of an open link, after checking its password.
   * @param password in clear text
   * @throws VIEW_NOT_FOUND, BASE_NOT_FOUND for an unknown, closed or expired link;
   * INVALID_SHARED_VIEW_PASSWORD; TOO_MANY_REQUESTS
   */
  async function enter(
    kind: ShareKind,
    id: string,
    password: string | null,
    address: string,
  ): Promise<ShareRow> {
    const row = await shares.find(id)
    if (row?.kind !== kind || isExpired(row)) throw noShare(kind, id)
    await checkPassword(row, password, address)
    // Not awaited: recording the visit must not delay the answer.
    shares.visited(row).catch((error) => log.error('a visit could not be noted', error, { shareId: id }))
    return row
  }

  return {
    enter,

    /** The visitor of the link in a request's headers; null if they name none. @throws as `enter` */
    ofHeaders(headers: Headers, address: string): Promise<ShareActor> | null {
      for (const kind of SHARE_KINDS) {
        const id = headers.get(SHARE_HEADERS[kind])
        if (id !== null) return enter(kind, id, passwordIn(headers), address).then(asVisitor)
      }
      return null
    },
  }
}

/** The link password in a request's headers, or null. */
export function passwordIn(headers: Headers): string | null {
  const header = headers.get(SHARE_PASSWORD_HEADER)
  return header === null ? null : readPasswordHeader(header)
}

export const isExpired = ({ expiresAt }: Pick<ShareRow, 'expiresAt'>): boolean =>
  expiresAt !== null && Date.parse(expiresAt) <= nowMs()

export function asVisitor({ id, kind, baseId, targetId, role, settings, expiresAt }: ShareRow): ShareActor {
  const link = { kind: 'share' as const, shareId: id, baseId, expiresAt }
  if (kind === 'erd') return { ...link, grant: { kind, sourceId: targetId } }
  const mayDownload = shareSettings.parse(settings).allowDownload
  if (kind === 'base') return { ...link, grant: { kind, role, mayDownload } }
  return { ...link, grant: { kind, viewId: targetId, mayDownload } }
}

/** Error for an unknown, closed or expired link alike. */
export const noShare = (kind: ShareKind, id: string): AppError =>
  notFound(kind === 'view' ? 'View' : 'Base', id.slice(0, 64))

const wrongPassword = (): AppError =>
  new AppError('INVALID_SHARED_VIEW_PASSWORD', m.wire_error_share_password())
