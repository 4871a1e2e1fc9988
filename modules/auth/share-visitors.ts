import { LRUCache } from 'lru-cache'
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
import { MAX_PASSWORD_LENGTH, verifyPassword } from './credentials.ts'
import type { ShareRow, Shares } from './shares.ts'
import { createThrottle } from './throttle.ts'

/** Passwords that were right, remembered so that not every request takes what makes guessing slow. */
const MAX_REMEMBERED = 10_000

export type ShareVisitors = ReturnType<typeof createShareVisitors>

/** Who comes by public links: looked up for each request, so that a link that is closed is closed at once. */
export function createShareVisitors({ log }: Pick<Kernel, 'log'>, shares: Shares) {
  const throttle = createThrottle()
  const known = new LRUCache<string, true>({ max: MAX_REMEMBERED })
  const checking = new Map<string, Promise<void>>()

  /** @throws INVALID_SHARED_VIEW_PASSWORD; TOO_MANY_REQUESTS after too many wrong ones */
  async function checkPassword({ id, passwordHash }: ShareRow, given: string | null, address: string) {
    if (passwordHash === null) return
    if (given === null || given === '') throw wrongPassword()
    // With the hash, so that a password that was changed is not remembered.
    const key = new Bun.CryptoHasher('sha256').update(JSON.stringify([id, passwordHash, given])).digest('hex')
    // Ahead of what is remembered: else a right guess would be told from a wrong one however many there were.
    throttle.refuse(`share ${id}`, address)
    if (known.has(key)) return
    // A page asks for several things at once: these are one attempt.
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
   * The link of an id, for someone who brings its password.
   *
   * @param password as it was sent, in clear
   * @throws VIEW_NOT_FOUND, BASE_NOT_FOUND for one that is unknown, closed or expired;
   *   INVALID_SHARED_VIEW_PASSWORD; TOO_MANY_REQUESTS
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
    // Of the visit nobody waits to hear.
    shares.visited(row).catch((error) => log.error('a visit could not be noted', error, { shareId: id }))
    return row
  }

  return {
    enter,

    /** The visitor of a link. @throws as `enter` */
    async visitor(
      kind: ShareKind,
      id: string,
      password: string | null,
      address: string,
    ): Promise<ShareActor> {
      return asVisitor(await enter(kind, id, password, address))
    },

    /** The visitor whom the headers of a request name; null where they name no link. @throws as `enter` */
    ofHeaders(headers: Headers, address: string): Promise<ShareActor> | null {
      for (const kind of SHARE_KINDS) {
        const id = headers.get(SHARE_HEADERS[kind])
        if (id !== null) return this.visitor(kind, id, passwordIn(headers), address)
      }
      return null
    },
  }
}

/** The password that a request brings; null where it brings none. */
export function passwordIn(headers: Headers): string | null {
  const header = headers.get(SHARE_PASSWORD_HEADER)
  return header === null ? null : readPasswordHeader(header)
}

export const isExpired = ({ expiresAt }: Pick<ShareRow, 'expiresAt'>): boolean =>
  expiresAt !== null && Date.parse(expiresAt) <= Date.now()

/** The visitor that a link makes of whoever has it. */
export function asVisitor({ id, kind, baseId, targetId, role, settings, expiresAt }: ShareRow): ShareActor {
  const link = { kind: 'share' as const, shareId: id, baseId, expiresAt }
  if (kind === 'erd') return { ...link, grant: { kind, sourceId: targetId } }
  const mayDownload = shareSettings.parse(settings).allowDownload
  if (kind === 'base') return { ...link, grant: { kind, role, mayDownload } }
  return { ...link, grant: { kind, viewId: targetId, mayDownload } }
}

/** The refusal of a link that is not open; it says nothing of whether there ever was one. */
export const noShare = (kind: ShareKind, id: string): AppError =>
  notFound(kind === 'view' ? 'View' : 'Base', id.slice(0, 64))

const wrongPassword = (): AppError =>
  new AppError('INVALID_SHARED_VIEW_PASSWORD', 'Invalid shared view password')
