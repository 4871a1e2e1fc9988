import type { Actor } from '../../src/core/actor.ts'
import type { Diagram } from '../../src/core/diagram.ts'
import { AppError, badRequest, notFound } from '../../src/core/errors.ts'
import type { View } from '../../src/core/model.ts'
import type { BaseRight } from '../../src/core/roles.ts'
import {
  type FormDefinition,
  type OpenedShare,
  type Share,
  type ShareKind,
  shareSettings,
} from '../../src/core/shares.ts'
import { type BaseTheme, isDefaultTheme, readTheme } from '../../src/core/theme.ts'
import { questionsOf } from '../../src/core/views/form-answers.ts'
import { collectsAnswers, optionsOf } from '../../src/core/views/index.ts'
import type { MetaStatement } from '../../src/db/meta.ts'
import type { Kernel } from '../../src/kernel.ts'
import { m } from '../../src/messages.gen.ts'
import { type AuthService, asShare, noShare, type SharePatch, type ShareTarget } from '../auth/index.ts'
import type { BasesService } from '../bases/index.ts'
import type { RecordsService } from '../records/index.ts'
import { diagramOf, type SchemaService } from '../schema/index.ts'
import type { ViewsService } from '../views/index.ts'
import { createFormAnswers } from './form-answers.ts'
import { futureMoment } from './input.ts'

export type SharesService = ReturnType<typeof createSharesService>

/** A visitor's request to open a link. */
export interface LinkRequest {
  kind: ShareKind
  id: string
  password: string | null
  address: string
  headers: Headers
}

/** Public links: managing them, opening them, and answering forms. */
export function createSharesService(
  kernel: Kernel,
  auth: AuthService,
  bases: BasesService,
  schema: SchemaService,
  views: ViewsService,
  records: RecordsService,
) {
  const targets = createTargets({ kernel, auth, bases, schema, views })
  const answers = createFormAnswers({ kernel, auth, records })

  async function change(actor: Actor, target: FoundTarget, patch: SharePatch): Promise<Share> {
    if (patch.role !== undefined && target.kind !== 'base') {
      throw badRequest(m.shares_error_role())
    }
    const expiresAt = patch.expiresAt ? futureMoment(patch.expiresAt) : patch.expiresAt
    const dated = expiresAt === undefined ? patch : { ...patch, expiresAt }
    const row = await auth.shares.save(actor, target, dated, targets.commit(actor, target))
    return asShare(row, target.isBlocked)
  }

  async function themeOf(baseId: string): Promise<BaseTheme | null> {
    const theme = readTheme((await bases.require(baseId)).meta)
    return isDefaultTheme(theme) ? null : theme
  }

  /** An open link with its target. @throws VIEW_NOT_FOUND, BASE_NOT_FOUND; as `visitors.enter` */
  async function enter({ kind, id, password, address }: Omit<LinkRequest, 'headers'>) {
    const row = await auth.visitors.enter(kind, id, password, address)
    const target = await targets.findOpen(kind, row.targetId)
    if (!target) throw noShare(kind, id)
    return { row, target }
  }

  /** A form as visitors see it. @throws VIEW_NOT_FOUND when it is deleted meanwhile */
  async function definitionOf({ id, tableId }: View): Promise<FormDefinition> {
    const { fields, views } = await schema.sharedTable(id, tableId)
    const view = views.find((one) => one.id === id)
    if (!view) throw notFound('View', id)
    return { view, options: optionsOf(view, 'form'), fields, questions: questionsOf(view, fields) }
  }

  /**
   * The shared diagram: tables of one source with their fields' names and types.
   * @throws FORBIDDEN unless the actor came by a link to a diagram
   */
  async function diagram(actor: Actor): Promise<Diagram> {
    if (actor.kind !== 'share' || actor.grant.kind !== 'erd') {
      throw new AppError('FORBIDDEN', `Forbidden - ${m.shares_error_diagram()}`)
    }
    const tables = await schema.tablesOfSource(actor.baseId, actor.grant.sourceId)
    return diagramOf(await Promise.all(tables.map(({ id }) => schema.load(id))))
  }

  return {
    enter,
    answers,
    diagram,
    targets,

    /** The facts that a visitor's page loads first. @throws as `enter` */
    async open(knock: LinkRequest): Promise<OpenedShare> {
      const { row, target } = await enter(knock)
      const { view } = target
      const form = view && collectsAnswers(view) ? answers.stateOf(row, view, knock.headers) : null
      return {
        kind: row.kind,
        baseId: row.baseId,
        title: target.title,
        role: row.role,
        tableId: view?.tableId ?? null,
        viewId: view?.id ?? null,
        viewKind: view?.kind ?? null,
        settings: shareSettings.parse(row.settings),
        theme: await themeOf(row.baseId),
        form,
        definition: view && form === 'open' ? await definitionOf(view) : null,
      }
    },

    /** The link of a target, or null. @throws PERMISSION_DENIED for people who may not share it */
    async get(actor: Actor, kind: ShareKind, targetId: string): Promise<Share | null> {
      const target = await targets.enter(actor, kind, targetId)
      const row = await auth.shares.ofTarget(target)
      return row && asShare(row, target.isBlocked)
    },

    /** Changes a link, or creates it. @throws CONFLICT for an address in use */
    async save(actor: Actor, kind: ShareKind, targetId: string, patch: SharePatch): Promise<Share> {
      return change(actor, await targets.enter(actor, kind, targetId), patch)
    },

    /** Replaces a link's address by a random one. @throws VIEW_NOT_FOUND or the like if there is no link */
    async regenerate(actor: Actor, kind: ShareKind, targetId: string): Promise<Share> {
      const target = await targets.enter(actor, kind, targetId)
      const row = await auth.shares.ofTarget(target)
      if (!row) throw noShare(kind, targetId)
      return asShare(await auth.shares.regenerate(actor, row, target.title), target.isBlocked)
    },

    /** Closes a link, if there is one. */
    async close(actor: Actor, kind: ShareKind, targetId: string): Promise<void> {
      const target = await targets.enter(actor, kind, targetId)
      const row = await auth.shares.ofTarget(target)
      if (row) await auth.shares.close(actor, row, target.title, targets.commit(actor, target))
    },

    /** All links of a base and its views, without those of trashed views. */
    async list(actor: Actor, baseId: string): Promise<Share[]> {
      await targets.enter(actor, 'base', baseId)
      const found: Share[] = []
      for (const row of await auth.shares.ofBase(baseId)) {
        const target = await targets.findOpen(row.kind, row.targetId)
        if (target) found.push(asShare(row, target.isBlocked))
      }
      return found
    },
  }
}

const RIGHTS = { view: 'view.share', base: 'base.share', erd: 'base.share' } as const satisfies Record<
  ShareKind,
  BaseRight
>

/** An existing target, not in the trash. */
interface FoundTarget extends ShareTarget {
  title: string
  /** Set if the target is a view. */
  view: View | null
  /** True while a link shows nothing of it, see `Share.isBlocked`. */
  isBlocked: boolean
}

interface Deps {
  kernel: Pick<Kernel, 'meta'>
  auth: Pick<AuthService, 'access'>
  bases: BasesService
  schema: SchemaService
  views: ViewsService
}

/** Targets of links: views, bases, and diagrams of sources. */
function createTargets({ kernel, auth, bases, schema, views }: Deps) {
  /** @throws VIEW_NOT_FOUND, BASE_NOT_FOUND, SOURCE_NOT_FOUND; also for the trash */
  async function find(kind: ShareKind, targetId: string): Promise<FoundTarget> {
    if (kind === 'view') {
      const view = await views.load(targetId)
      const { table } = await schema.load(view.tableId)
      const isBlocked = !views.hasIntactFilter(view)
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
    /** The target of an open link, or null if it is gone. */
    async findOpen(kind: ShareKind, targetId: string): Promise<FoundTarget | null> {
      try {
        return await find(kind, targetId)
      } catch (error) {
        if (error instanceof AppError && error.status === 404) return null
        throw error
      }
    },

    /** The target, if the actor may share it. @throws as `find`, then PERMISSION_DENIED */
    async enter(actor: Actor, kind: ShareKind, targetId: string): Promise<FoundTarget> {
      const target = await find(kind, targetId)
      await auth.access.authorize(actor, RIGHTS[kind], target.baseId)
      return target
    },

    /**
     * How to write a link that is created or closed: notifies everyone who has the view open. Writes no entry
     * to the change log, since undo must not reopen a closed link.
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
