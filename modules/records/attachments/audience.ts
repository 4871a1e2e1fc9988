import type { Actor, ShareActor } from '../../../src/core/actor.ts'
import { AppError } from '../../../src/core/errors.ts'
import { shownType } from '../../../src/core/fields/field.ts'
import { collectsAnswers, filePathsOf, stacksOf } from '../../../src/core/views/index.ts'
import { visibleFieldIds } from '../../../src/core/views/public-view.ts'
import { type AuthService, isExpired } from '../../auth/index.ts'
import type { BasesService } from '../../bases/index.ts'
import type { SchemaReader } from '../../schema/index.ts'
import type { ViewsService } from '../../views/index.ts'

const LINK = 'link:'

/** Whose a file is that someone uploads: the person's, or of all who came by one public link. */
export function ownerOf(actor: Actor): string | null {
  if (actor.kind === 'share') return visitorOwner(actor)
  return actor.kind === 'user' ? actor.id : null
}

export const visitorOwner = ({ shareId }: ShareActor): string => LINK + shareId

/** True for the owner of files that visitors have uploaded. */
export const isVisitor = (owner: string): boolean => owner.startsWith(LINK)

/** Kinds of public links that show files. */
export const FILE_SHARES = ['view', 'base'] as const

/** What a link opens, as it stands in the addresses of files that its visitors are given. */
export interface FileShare {
  kind: (typeof FILE_SHARES)[number]
  targetId: string
}

/** Those who came by a link. Its own address is left out: who is sent one of a file must not get the link. */
export interface Audience extends FileShare {
  /** Another one as soon as the link, its password or what its view shows of files is another. */
  stamp: string
}

export type Audiences = ReturnType<typeof createAudiences>

interface Deps {
  auth: Pick<AuthService, 'shares'>
  bases: Pick<BasesService, 'require'>
  schema: Pick<SchemaReader, 'load'>
  views: Pick<ViewsService, 'load' | 'hasIntactFilter'>
}

/** For whom addresses of files are signed, and whether these may still read: as links are now, at each request. */
export function createAudiences({ auth, bases, schema, views }: Deps) {
  /** What is shown of files by what a link opens. Null where it shows nothing for now. @throws 404 where it is gone */
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
    /** Those who read as this actor; null for who came by no link. */
    async of(actor: Actor): Promise<Audience | null> {
      if (actor.kind !== 'share' || actor.grant.kind === 'erd') return null
      const { grant, baseId, shareId } = actor
      const share =
        grant.kind === 'view'
          ? { kind: grant.kind, targetId: grant.viewId }
          : { kind: grant.kind, targetId: baseId }
      const open = await find(share)
      // Closed since the request came: what is signed with this is signed for nobody.
      return { ...share, stamp: open?.id === shareId ? open.stamp : crypto.randomUUID() }
    },

    /** Those who may come by the link as it is now; null where it is closed, has expired, or shows nothing. */
    async open(share: FileShare): Promise<Audience | null> {
      const open = await find(share)
      return open && { ...share, stamp: open.stamp }
    },
  }
}

const showsFiles = (field: Parameters<typeof shownType>[0]): boolean =>
  shownType(field).type.holdsFiles === true
