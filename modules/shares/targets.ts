import type { Actor } from '../../src/core/actor.ts'
import { AppError, notFound } from '../../src/core/errors.ts'
import type { View } from '../../src/core/model.ts'
import type { BaseRight } from '../../src/core/roles.ts'
import type { ShareKind } from '../../src/core/shares.ts'
import type { MetaStatement } from '../../src/db/meta.ts'
import type { Kernel } from '../../src/kernel.ts'
import type { AuthService, ShareTarget } from '../auth/index.ts'
import type { BasesService } from '../bases/index.ts'
import type { SchemaService } from '../schema/index.ts'
import type { ViewsService } from '../views/index.ts'

const RIGHTS = { view: 'view.share', base: 'base.share', erd: 'base.share' } as const satisfies Record<
  ShareKind,
  BaseRight
>

/** What a link leads to, found: its base is there and not in the trash, and so is what is shared of it. */
export interface FoundTarget extends ShareTarget {
  title: string
  /** The view, where that is what is shared. */
  view: View | null
  /** True where a link shows nothing of it for now, see `Share.isBlocked`. */
  isBlocked: boolean
}

export type Targets = ReturnType<typeof createTargets>

interface Deps {
  kernel: Pick<Kernel, 'meta'>
  auth: Pick<AuthService, 'access'>
  bases: BasesService
  schema: SchemaService
  views: ViewsService
}

/** What can be shared: views, bases, and the diagrams of their sources. */
export function createTargets({ kernel, auth, bases, schema, views }: Deps) {
  /** @throws VIEW_NOT_FOUND, BASE_NOT_FOUND, SOURCE_NOT_FOUND; also for what is in the trash */
  async function find(kind: ShareKind, targetId: string): Promise<FoundTarget> {
    if (kind === 'view') {
      const view = await views.load(targetId)
      const { table } = await schema.load(view.tableId)
      const isBlocked = !views.hasWholeFilter(view)
      return { kind, targetId, baseId: table.baseId, title: view.title, view, isBlocked }
    }
    if (kind === 'base') {
      const { id, title } = await bases.require(targetId)
      return { kind, targetId: id, baseId: id, title, view: null, isBlocked: false }
    }
    const source = await bases.sources.find(targetId)
    if (!source) throw notFound('Source', targetId.slice(0, 64))
    const { id: baseId, title } = await bases.require(source.baseId)
    const name = source.isOwn ? title : (source.alias ?? title)
    return { kind, targetId, baseId, title: name, view: null, isBlocked: false }
  }

  return {
    /** The target of a link that is open. Null where it is gone: then the link leads nowhere. */
    async findOpen(kind: ShareKind, targetId: string): Promise<FoundTarget | null> {
      try {
        return await find(kind, targetId)
      } catch (error) {
        if (error instanceof AppError && error.status === 404) return null
        throw error
      }
    },

    /** The target, for someone who may share it. @throws as `find`, then PERMISSION_DENIED */
    async enter(actor: Actor, kind: ShareKind, targetId: string): Promise<FoundTarget> {
      const target = await find(kind, targetId)
      await auth.access.authorize(actor, RIGHTS[kind], target.baseId)
      return target
    },

    /**
     * How a link that is made or closed is written: everyone who has the view open learns that it is shared,
     * or no longer. Without a line in the log: a link that was closed must not come back by an undo.
     */
    commit(actor: Actor, { view, baseId }: FoundTarget) {
      return async (statements: MetaStatement[]): Promise<void> => {
        if (!view) return kernel.meta.atomically(statements)
        const { tableId } = view
        const entry = { kind: 'view.share', tableId, detail: null }
        const plan = async () => ({ statements, entry, tableIds: [tableId], result: undefined })
        await schema.apply(actor, baseId, plan, { silent: true })
      }
    },
  }
}
