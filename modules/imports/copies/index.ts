import type { Actor, UserActor } from '../../../src/core/actor.ts'
import { badRequest, notFound } from '../../../src/core/errors.ts'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import { createId } from '../../../src/core/ids.ts'
import { roleCan } from '../../../src/core/roles.ts'
import { type LostField, MAX_COPIED_TABLES, type TableCopyPreview } from '../../../src/core/table-copies.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { m } from '../../../src/messages.gen.ts'
import { type AuthService, requireUser } from '../../auth/index.ts'
import type { BasesService } from '../../bases/index.ts'
import type { RecordsService } from '../../records/index.ts'
import { type FieldPosition, type SchemaService, type TableModel, uniqueTitle } from '../../schema/index.ts'
import type { ViewsService } from '../../views/index.ts'
import {
  createTableToBaseJob,
  planFieldsToBase,
  TABLE_TO_BASE_JOB,
  type TableToBaseInput,
  withComputed,
} from './connected-to-base.ts'
import { createRecordCopies } from './copy-records.ts'
import { COPIED_COMMENTS, COPIED_HOOKS, createCopyRows } from './copy-rows.ts'
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
import { copiedFields, planConnectedFields, planFields } from './plan-fields.ts'
import { createTablesToBaseJob, TABLES_TO_BASE_JOB, type TablesToBaseInput } from './tables-to-base.ts'

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
  /** Further tables of the same base, which are copied with it. The links between them are kept. */
  furtherTableIds?: readonly string[]
  /** Of the copy of one table. Default: that of the original, with a suffix if it is in use. */
  title?: string
  /** A move has always the records. */
  withData?: boolean
  withViews?: boolean
  /** Comments of its records. Default: those of a table that is moved. */
  withComments?: boolean
  /** Webhooks of the table. Those of a copy are turned off. Default: those of a table that is moved. */
  withHooks?: boolean
  /** The history of its records. Default: that of a table that is moved. */
  withHistory?: boolean
  /** Moves the originals to the trash. */
  isMove?: boolean
}

/** Tables whose copy is previewed. */
export interface ToBasePreview extends Pick<ToBaseOptions, 'furtherTableIds' | 'isMove'> {
  tableId: string
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
  kernel.jobs.register(COPY_JOB, createCopyJob({ kernel, bases, copyRows: rows, records, schema }))
  kernel.jobs.register(TABLE_COPY_JOB, createTableCopyJob(schema))
  kernel.jobs.register(FIELD_COPY_JOB, createFieldCopyJob(schema))
  kernel.jobs.register(TABLE_TO_BASE_JOB, createTableToBaseJob({ kernel, schema, views, records }))
  kernel.jobs.register(TABLES_TO_BASE_JOB, createTablesToBaseJob({ kernel, schema, views, records }))

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

  /** Opens tables that are copied together, each once. @throws as `tableToBase` */
  async function openTables(
    actor: Actor,
    tableIds: readonly string[],
  ): Promise<[TableModel, ...TableModel[]]> {
    const [firstId = '', ...otherIds] = new Set(tableIds)
    if (otherIds.length >= MAX_COPIED_TABLES)
      throw badRequest(m.copies_error_too_many_tables({ max: MAX_COPIED_TABLES }))
    const first = await schema.openTable(actor, 'record.export', firstId)
    const models: [TableModel, ...TableModel[]] = [first]
    for (const id of otherIds) {
      const model = await schema.openTable(actor, 'record.export', id)
      if (model.table.baseId !== first.table.baseId)
        throw badRequest(m.copies_error_several_bases({ table: model.table.title }))
      models.push(model)
    }
    for (const model of models) {
      const { title, isJunction } = model.table
      if (isJunction) throw badRequest(m.copies_error_junction({ table: title }))
      if (models.length > 1 && isConnected(model))
        throw badRequest(m.copies_error_several_connected({ table: title }))
    }
    return models
  }

  async function hooksOf(models: readonly TableModel[]): Promise<string[]> {
    const found: string[] = []
    for (const { table } of models) found.push(...(await registry.get(COPIED_HOOKS).idsOfTable(table.id)))
    return found
  }

  /** The tables that links of these lead to, in the order of the base. */
  async function linkedTables(models: readonly TableModel[]): Promise<TableCopyPreview['linked']> {
    const copied = new Set(models.map(({ table }) => table.id))
    const ids = new Set(
      models.flatMap(({ fields }) =>
        fields.flatMap((field) => (field.error === null ? (linkOf(field)?.relatedTableId ?? []) : [])),
      ),
    )
    const found: { id: string; title: string; order: number }[] = []
    for (const id of ids) {
      if (copied.has(id)) continue
      const { table } = await schema.load(id)
      found.push({ id, title: table.title, order: table.order })
    }
    return found.toSorted((a, b) => a.order - b.order).map(({ id, title }) => ({ id, title }))
  }

  /** Fields of other tables that are deleted or broken when these move. */
  async function lostFields(actor: Actor, models: readonly TableModel[]): Promise<LostField[]> {
    const found = new Map<string, LostField>()
    for (const { table } of models) {
      for (const { id, kind, title, tableTitle, effect } of await schema.dependents(actor, {
        tableId: table.id,
      }))
        if (kind === 'field') found.set(id, { title, tableTitle, effect })
    }
    for (const { fields } of models) for (const { id } of fields) found.delete(id)
    return [...found.values()]
  }

  async function startConnected(
    owner: UserActor,
    model: TableModel,
    baseId: string,
    {
      title,
      withData = true,
      withViews = true,
      hookIds,
    }: Omit<ToBaseOptions, 'baseId'> & { hookIds: [string, string][] },
  ) {
    const { table } = model
    const plan = planFieldsToBase(model)
    const planned = await schema.prepareTable(owner, baseId, {
      title: title ?? uniqueTitle(table.title, await schema.tables(owner, baseId)),
      fields: plan.inputs,
      description: table.description,
      meta: table.meta,
    })
    const { prepared, fieldIds } = withComputed(planned, table.id, plan, new Map(hookIds))
    const input: TableToBaseInput = {
      owner,
      tableId: table.id,
      title: prepared.title,
      prepared,
      fieldIds,
      withData,
      withViews,
      hookIds,
    }
    const job = await kernel.jobs.start(TABLE_TO_BASE_JOB, { userId: owner.id, baseId, input })
    const { tableId } = prepared
    return { jobId: job.id, tableId, tables: [{ id: table.id, newId: tableId }] }
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
      const model = await schema.openTableToCopy(actor, tableId)
      const { table } = model
      const { title, withData = true, withViews = true } = options
      const newTableId = createId('table')
      const newTitle = await schema.titleForTable(table.baseId, title ?? null, table.title)
      const input: TableCopyInput = {
        owner: requireUser(actor),
        tableId: table.id,
        newTableId,
        withData,
        withViews,
        title: newTitle,
        name: await schema.nameForCopy(model, newTitle),
      }
      const { baseId } = table
      const job = await kernel.jobs.start(TABLE_COPY_JOB, { userId: input.owner.id, baseId, input })
      return { jobId: job.id, tableId: newTableId }
    },

    /**
     * What copying or moving tables of a base to another one does to their fields, and to those of tables that stay.
     * @throws TABLE_NOT_FOUND; PERMISSION_DENIED below viewer, for a move below creator, and for visitors of public links;
     * BAD_REQUEST as `tableToBase`
     */
    async previewToBase(
      actor: Actor,
      { tableId, furtherTableIds = [], isMove = false }: ToBasePreview,
    ): Promise<TableCopyPreview> {
      const models = await openTables(actor, [tableId, ...furtherTableIds])
      requireUser(actor)
      const { baseId } = models[0].table
      const role = await auth.access.baseRole(actor, baseId)
      const hooks = roleCan(role, 'hook.list') ? await hooksOf(models) : []
      const isOwn = !isConnected(models[0])
      let comments = 0
      if (isOwn)
        for (const { table } of models) comments += await registry.get(COPIED_COMMENTS).countOf(table.id)
      const effects = isOwn ? planFields(models, { isMove }) : planConnectedFields(models[0])
      return {
        fields: copiedFields(models, effects),
        linked: isOwn ? await linkedTables(models) : [],
        lost: isMove && isOwn ? await lostFields(actor, models) : [],
        keepsIds: isOwn,
        comments,
        webhooks: hooks.length,
      }
    },

    /**
     * Copies or moves a table to another base, whichever databases they are in, also from a connected database; with further
     * tables and the links between them.
     * @throws TABLE_NOT_FOUND, BASE_NOT_FOUND; PERMISSION_DENIED below viewer of the tables and creator of the base, for a
     * move, and with webhooks, below creator of both; DUPLICATE_ALIAS for a title in use; BAD_REQUEST for a junction table, tables
     * of several bases, more than `MAX_COPIED_TABLES`, several of connected databases, and for a move within a base or out of
     * a connected database
     */
    async tableToBase(
      actor: Actor,
      tableId: string,
      { furtherTableIds = [], ...options }: ToBaseOptions,
    ): Promise<{ jobId: string; tableId: string; tables: { id: string; newId: string }[] }> {
      const models = await openTables(actor, [tableId, ...furtherTableIds])
      const owner = requireUser(actor)
      const [first] = models
      const { table } = first
      const { isMove = false, withHooks = isMove, baseId, title } = options
      if (isMove) await auth.access.authorize(actor, 'table.delete', table.baseId)
      if (isMove && (baseId === table.baseId || isConnected(first)))
        throw badRequest(m.copies_error_move({ table: table.title }))
      if (title !== undefined && models.length > 1) throw badRequest(m.copies_error_title_of_many())
      if (withHooks) await auth.access.authorize(actor, 'hook.list', table.baseId)
      const target = await bases.enter(actor, 'table.create', baseId)
      const hookIds = (withHooks && !isMove ? await hooksOf(models) : []).map((id): [string, string] => [
        id,
        createId('hook'),
      ])
      if (isConnected(first)) return startConnected(owner, first, target.id, { ...options, hookIds })
      const taken: { title: string }[] = await schema.tables(actor, target.id)
      const tables: TablesToBaseInput['tables'] = []
      for (const { table: original } of models) {
        const named = title ?? uniqueTitle(original.title, taken)
        taken.push({ title: named })
        tables.push({ id: original.id, newId: createId('table'), title: named })
      }
      // Refuses a title in use, and a full base, before the copy starts.
      await schema.prepareTable(owner, target.id, { title: tables[0]?.title ?? '', fields: [] })
      const { withData = true, withViews = true, withComments = isMove, withHistory = isMove } = options
      const input: TablesToBaseInput = {
        owner,
        title: tables[0]?.title ?? '',
        baseId: target.id,
        fromBaseId: table.baseId,
        tables,
        withData: withData || isMove,
        withViews,
        withComments,
        withHistory,
        hookIds,
        movesHooks: isMove && withHooks,
        isMove,
      }
      const job = await kernel.jobs.start(TABLES_TO_BASE_JOB, { userId: owner.id, baseId: target.id, input })
      return {
        jobId: job.id,
        tableId: tables[0]?.newId ?? '',
        tables: tables.map(({ id, newId }) => ({ id, newId })),
      }
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

/** True for a table of a connected database. */
const isConnected = ({ primaryKey }: TableModel): boolean => primaryKey.databaseType !== null

export {
  COPIED_COMMENTS,
  COPIED_HOOKS,
  COPIED_INDEXES,
  type CopiedComments,
  type CopiedHook,
  type CopiedHooks,
  type CopiedIndexes,
  type CopiedRows,
  isSameDefinition,
} from './copy-rows.ts'
