import { type Actor, actorIdOf, type ShareActor } from '../../../src/core/actor.ts'
import { AppError } from '../../../src/core/errors.ts'
import { shownType } from '../../../src/core/fields/field.ts'
import { collectsAnswers, filePathsOf, stacksOf } from '../../../src/core/views/index.ts'
import { visibleFieldIds } from '../../../src/core/views/public-view.ts'
import { type AuthService, isExpired } from '../../auth/index.ts'
import type { BasesService } from '../../bases/index.ts'
import type { SchemaReader } from '../../schema/index.ts'
import type { ViewsService } from '../../views/index.ts'

const LINK = 'link:'

/** The owner of an uploaded file: the person, or all visitors of one public link. */
export function ownerOf(actor: Actor): string | null {
  if (actor.kind === 'share') return visitorOwner(actor)
  return actorIdOf(actor)
}

export const visitorOwner = ({ shareId }: ShareActor): string => LINK + shareId

/** True for the owner of files uploaded by visitors. */
export const isVisitor = (owner: string): boolean => owner.startsWith(LINK)

const EXPORTS = 'exports:'

/** The owner of the files of a person's exports, which only their links give access to. */
export const exportsOwner = (userId: string): string => EXPORTS + userId

export const FILE_SHARES = ['view', 'base'] as const

/** The target of a public link, as file links name it. */
export interface FileShare {
  kind: (typeof FILE_SHARES)[number]
  targetId: string
}

/**
 * The visitors of a public link. Excludes the link’s own id: someone who gets a file link must not get the public
 * link.
 */
export interface Audience extends FileShare {
  /** Version of the audience: differs after a change of the link, its password, or the files that its view shows. */
  stamp: string
}

interface Deps {
  auth: Pick<AuthService, 'shares'>
  bases: Pick<BasesService, 'require'>
  schema: Pick<SchemaReader, 'load'>
  views: Pick<ViewsService, 'load' | 'hasIntactFilter'>
}

/**
 * Decides for whom file links are signed, and whether they are still valid: checked against the public link at each
 * request.
 */
export function createAudiences({ auth, bases, schema, views }: Deps) {
  /** The files that a public link shows; null if it currently shows none. @throws 404 if the target is gone */
  async function shownBy({ kind, targetId }: FileShare): Promise<unknown> {
    if (kind === 'base') return (await bases.require(targetId)).id
    const view = await views.load(targetId)
    if (collectsAnswers(view)) return filePathsOf(view)
    if (!views.hasIntactFilter(view)) return null
    const { fields } = await schema.load(view.tableId)
    const visible = visibleFieldIds(view, fields)
    const files = fields.filter(({ id, error }) => visible.has(id) && error === null).filter(showsFiles)
    const hidden = stacksOf(view)?.hidden ?? []
    return [files.map(({ id }) => id).sort(), view.filter, hidden]
  }

  async function find(share: FileShare): Promise<{ id: string; stamp: string } | null> {
    const row = await auth.shares.findOf(share)
    if (!row || isExpired(row)) return null
    try {
      const shown = await shownBy(share)
      if (shown === null) return null
      const state = JSON.stringify([row.id, row.passwordHash, shown])
      return { id: row.id, stamp: new Bun.CryptoHasher('sha256').update(state).digest('base64url') }
    } catch (error) {
      if (error instanceof AppError && error.status === 404) return null
      throw error
    }
  }

  return {
    /** The audience of an actor; null without a public link. */
    async of(actor: Actor): Promise<Audience | null> {
      if (actor.kind !== 'share' || actor.grant.kind === 'erd') return null
      const { grant, baseId, shareId } = actor
      const share =
        grant.kind === 'view'
          ? { kind: grant.kind, targetId: grant.viewId }
          : { kind: grant.kind, targetId: baseId }
      const open = await find(share)
      // The link was closed in the meantime: sign for nobody.
      return { ...share, stamp: open?.id === shareId ? open.stamp : crypto.randomUUID() }
    },

    /** The audience of a public link now; null if it is closed, expired, or shows nothing. */
    async open(share: FileShare): Promise<Audience | null> {
      const open = await find(share)
      return open && { ...share, stamp: open.stamp }
    },
  }
}

const showsFiles = (field: Parameters<typeof shownType>[0]): boolean =>
  shownType(field).type.holdsFiles === true
