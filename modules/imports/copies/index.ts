import type { Actor, UserActor } from '../../../src/core/actor.ts'
import { badRequest, notFound } from '../../../src/core/errors.ts'
import { createId } from '../../../src/core/ids.ts'
import { roleCan } from '../../../src/core/roles.ts'
import type { TableCopyPreview } from '../../../src/core/table-copies.ts'
import { lastChangeId } from '../../../src/db/change-log.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { m } from '../../../src/messages.gen.ts'
import { type AuthService, requireUser } from '../../auth/index.ts'
import type { BasesService } from '../../bases/index.ts'
import type { RecordsService } from '../../records/index.ts'
import { type FieldPosition, type SchemaService, type TableModel, uniqueTitle } from '../../schema/index.ts'
import type { ViewsService } from '../../views/index.ts'
import { createRecordCopies } from './copy-records.ts'
import { COPIED_COMMENTS, COPIED_HOOKS, createCopyRows } from './copy-rows.ts'
import {
  createTableToBaseJob,
  keepsIds,
  planFieldsToBase,
  TABLE_TO_BASE_JOB,
  type TableToBaseInput,
  withComputed,
} from './copy-to-base.ts'
import {
  COPY_JOB,
  type CopyInput,
  createCopyJob,
  createFieldCopyJob,
  createTableCopyJob,
  FIELD_COPY_JOB,
  type FieldCopyInput,
  TABLE_COPY_JOB,
  type TableCopyInput,
} from './jobs.ts'

export interface CopyOptions {
  /** Default: `Shop copy`. */
  title?: string
  withData?: boolean
  withViews?: boolean
  /** Webhooks of the base; the copies are turned off. */
  withHooks?: boolean
}

/** Options of a copy in another base. */
export interface ToBaseOptions {
  /** The base to copy to. */
  baseId: string
  /** Default: that of the original, with a suffix if it is in use. */
  title?: string
  withData?: boolean
  withViews?: boolean
  /** Comments of its records. Default: those of a table that is moved. */
  withComments?: boolean
  /** Webhooks of the table. Those of a copy are turned off. Default: those of a table that is moved. */
  withHooks?: boolean
  /** Moves the original to the trash afterwards. */
  isMove?: boolean
}

export interface FieldCopyOptions {
  withData?: boolean
  place?: FieldPosition
}

interface Deps {
  kernel: Kernel
  auth: Pick<AuthService, 'access' | 'visitors'>
  bases: BasesService
  schema: SchemaService
  views: ViewsService
  records: RecordsService
}

export type Copies = ReturnType<typeof createCopies>

/** Starts the jobs that copy bases, tables and fields, and copies records. */
export function createCopies({ kernel, auth, bases, schema, views, records }: Deps) {
  const { registry } = kernel
  const rows = createCopyRows({ kernel, bases, schema, views })
  kernel.jobs.register(COPY_JOB, createCopyJob({ kernel, bases, copyRows: rows, records }))
  kernel.jobs.register(TABLE_COPY_JOB, createTableCopyJob(schema))
  kernel.jobs.register(FIELD_COPY_JOB, createFieldCopyJob(schema))
  kernel.jobs.register(TABLE_TO_BASE_JOB, createTableToBaseJob({ kernel, schema, views, records }))

  async function start(
    owner: UserActor,
    baseId: string,
    { title, withData = true, withViews = true, withHooks = true }: CopyOptions,
    isVisitor: boolean,
  ): Promise<{ jobId: string; baseId: string }> {
    const original = await bases.require(baseId)
    const newBaseId = createId('base')
    const input: CopyInput = {
      owner,
      baseId,
      newBaseId,
      withData,
      withViews,
      withHooks,
      isVisitor,
      title: await bases.copies.freeTitle(title?.trim() || `${original.title} copy`),
    }
    const job = await kernel.jobs.start(COPY_JOB, { userId: owner.id, baseId, input })
    return { jobId: job.id, baseId: newBaseId }
  }

  /** Checked before the job, so that the caller gets the error. */
  async function requirePlace(model: TableModel, { viewId, beforeFieldId }: FieldPosition): Promise<void> {
    if (viewId !== undefined && !(await schema.viewsOf(model)).some(({ id }) => id === viewId))
      throw notFound('View', viewId.slice(0, 64))
    if (beforeFieldId !== undefined && !model.field(beforeFieldId))
      throw notFound('Field', beforeFieldId.slice(0, 64))
  }

  return {
    rows,
    records: createRecordCopies({ kernel, auth, schema, records }),

    /** @throws BASE_NOT_FOUND, PERMISSION_DENIED */
    async base(actor: Actor, baseId: string, options: CopyOptions) {
      await bases.enter(actor, 'base.duplicate', baseId)
      return start(requireUser(actor), baseId, options, false)
    },

    /**
     * Copies a table within its base, titled as given or by the next free `Tasks copy`.
     * @throws TABLE_NOT_FOUND, PERMISSION_DENIED; DUPLICATE_ALIAS for a title in use; BAD_REQUEST for an
     * invalid title and for tables of connected databases
     */
    async table(actor: Actor, tableId: string, options: CopyOptions) {
      const { table } = await schema.openTableToCopy(actor, tableId)
      const { title, withData = true, withViews = true } = options
      const newTableId = createId('table')
      const input: TableCopyInput = {
        owner: requireUser(actor),
        tableId: table.id,
        newTableId,
        withData,
        withViews,
        title: await schema.titleForTable(table.baseId, title ?? null, table.title),
      }
      const { baseId } = table
      const job = await kernel.jobs.start(TABLE_COPY_JOB, { userId: input.owner.id, baseId, input })
      return { jobId: job.id, tableId: newTableId }
    },

    /**
     * What copying a table to another base does to its fields.
     * @throws TABLE_NOT_FOUND; PERMISSION_DENIED below viewer, and for visitors of public links
     */
    async previewToBase(actor: Actor, tableId: string): Promise<TableCopyPreview> {
      const model = await schema.openTable(actor, 'record.export', tableId)
      requireUser(actor)
      const role = await auth.access.baseRole(actor, model.table.baseId)
      const hooks = roleCan(role, 'hook.list')
        ? await registry.get(COPIED_HOOKS).idsOfTable(model.table.id)
        : []
      return {
        fields: planFieldsToBase(model).copied,
        keepsIds: keepsIds(model),
        comments: keepsIds(model) ? await registry.get(COPIED_COMMENTS).countOf(model.table.id) : 0,
        webhooks: hooks.length,
      }
    },

    /**
     * Copies or moves a table to another base, whichever databases they are in, also from a connected database.
     * @throws TABLE_NOT_FOUND, BASE_NOT_FOUND; PERMISSION_DENIED below viewer of the table and creator of the base, for a
     * move, and with webhooks, below creator of both; DUPLICATE_ALIAS for a title in use; BAD_REQUEST for a junction table, and for a move
     * within a base or out of a connected database
     */
    async tableToBase(
      actor: Actor,
      tableId: string,
      {
        baseId,
        title,
        withData = true,
        withViews = true,
        isMove = false,
        withComments = isMove,
        withHooks = isMove,
      }: ToBaseOptions,
    ): Promise<{ jobId: string; tableId: string }> {
      const model = await schema.openTable(actor, 'record.export', tableId)
      const owner = requireUser(actor)
      const { table } = model
      if (isMove) await auth.access.authorize(actor, 'table.delete', table.baseId)
      if (table.isJunction) throw badRequest(m.copies_error_junction({ table: table.title }))
      if (isMove && (baseId === table.baseId || model.primaryKey.databaseType !== null))
        throw badRequest(m.copies_error_move({ table: table.title }))
      if (withHooks) await auth.access.authorize(actor, 'hook.list', table.baseId)
      const plan = planFieldsToBase(model)
      const target = await bases.enter(actor, 'table.create', baseId)
      const free = uniqueTitle(table.title, await schema.tables(actor, target.id))
      const planned = await schema.prepareTable(owner, target.id, {
        title: title ?? free,
        fields: plan.inputs,
        description: table.description,
        meta: table.meta,
      })
      const hooks = withHooks ? await registry.get(COPIED_HOOKS).idsOfTable(table.id) : []
      const hookIds = hooks.map((id): [string, string] => [id, createId('hook')])
      const { prepared, fieldIds } = withComputed(planned, table.id, plan, new Map(hookIds))
      const input: TableToBaseInput = {
        owner,
        tableId: table.id,
        prepared,
        fieldIds,
        withData,
        withViews,
        withComments,
        hookIds,
        isMove,
        since: isMove ? await lastChangeId(await kernel.sources.engine(table.baseId)) : undefined,
      }
      const job = await kernel.jobs.start(TABLE_TO_BASE_JOB, { userId: owner.id, baseId: target.id, input })
      return { jobId: job.id, tableId: prepared.tableId }
    },

    /**
     * Copies a field within its table, to the given place in a view or to the end.
     * @throws FIELD_NOT_FOUND, PERMISSION_DENIED; BAD_REQUEST for system fields and tables of connected
     * databases; VIEW_NOT_FOUND for a view of another table
     */
    async field(actor: Actor, fieldId: string, { withData = true, place = {} }: FieldCopyOptions) {
      const { model } = await schema.openFieldToCopy(actor, fieldId)
      await requirePlace(model, place)
      const newFieldId = createId('field')
      const owner = requireUser(actor)
      const input: FieldCopyInput = { owner, fieldId, newFieldId, withData, place }
      const { baseId } = model.table
      const job = await kernel.jobs.start(FIELD_COPY_JOB, { userId: owner.id, baseId, input })
      return { jobId: job.id, fieldId: newFieldId }
    },

    /**
     * Copies a shared base for a signed-in user who has its link.
     * @throws BASE_NOT_FOUND, INVALID_SHARED_VIEW_PASSWORD, TOO_MANY_REQUESTS, PERMISSION_DENIED
     */
    async sharedBase(
      actor: Actor,
      { shareId, password, address }: { shareId: string; password: string | null; address: string },
      options: CopyOptions,
    ) {
      await auth.access.authorize(actor, 'base.create')
      const user = requireUser(actor)
      const { baseId } = await auth.visitors.enter('base', shareId, password, address)
      return start(user, baseId, options, true)
    },
  }
}

export {
  COPIED_COMMENTS,
  COPIED_HOOKS,
  type CopiedComments,
  type CopiedHooks,
  isSameDefinition,
} from './copy-rows.ts'
