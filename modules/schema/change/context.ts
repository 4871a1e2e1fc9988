import { eq, inArray, type SQL } from 'drizzle-orm'
import type { Actor } from '../../../src/core/actor.ts'
import { notFound } from '../../../src/core/errors.ts'
import type { ChoiceTitles } from '../../../src/core/fields/choice-titles.ts'
import type { Field, Table, View } from '../../../src/core/model.ts'
import type { BaseRight } from '../../../src/core/roles.ts'
import type { MetaStatement } from '../../../src/db/meta.ts'
import type { QueryDialect } from '../../../src/dialects/dialect.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { defineSlot } from '../../../src/registry.ts'
import type { AuthService } from '../../auth/index.ts'
import type { BasesService } from '../../bases/index.ts'
import type { ReachableModels } from '../computed/index.ts'
import { batches, type SchemaStore, type TableModel, toField, toTable } from '../model/index.ts'
import type { ApplyChange, ApplyScript, LateStatements } from './change.ts'

/** The position of a new field in one view: before another field, at an order number, or by default at the end. */
export interface FieldPosition {
  viewId?: string
  beforeFieldId?: string
  order?: number
}

/** The views of tables that are being copied. */
export interface CopiedViews {
  /** The ids of the original views; the caller assigns new ones. */
  ids: string[]
  /** Their tables, in the same order. */
  tableIds: string[]
  /** The statements that insert the copies, with all ids of views, tables and fields replaced. */
  insert(ids: ReadonlyMap<string, string>, ownerId: string | null): MetaStatement[]
}

/** Implemented by the views module. Its statements join the metadata write of the table or field they belong to. */
export interface TableViews {
  ofTable(model: TableModel): Promise<View[]>
  forNewTable(table: Table, fields: Field[], actorId: string | null): MetaStatement[]
  /** @throws VIEW_NOT_FOUND, FIELD_NOT_FOUND for a position outside the table */
  forNewField(
    model: TableModel,
    field: Field,
    position: FieldPosition,
    actor: Actor | null,
  ): Promise<MetaStatement[]>
  /** For the reverse field of a new link, in the related table. */
  forReverse(model: TableModel, field: Field): Promise<MetaStatement[]>
  /** For renamed options of a select field. */
  forRenamedChoices(model: TableModel, fieldId: string, titles: ChoiceTitles): Promise<MetaStatement[]>
  /**
   * @param all false: only the default view of each table
   * @param options `isMove`: they keep their owners
   */
  forCopies(tableIds: readonly string[], all: boolean, options?: { isMove: boolean }): Promise<CopiedViews>
  /** For permanently deleted tables. */
  forRemovedTables(tableIds: string[]): MetaStatement[]
}

/**
 * When values are converted, and in which zone: that of days and times without a zone of their own, and of a formula whose
 * values are stored. The log keeps it, because undo and redo compare with the same conversion.
 */
export interface FrozenAt {
  /** ISO 8601. */
  now: string
  /** By default UTC. */
  timeZone?: string | undefined
}

/** Implemented by the records module: the SQL of computed fields. */
export interface FieldExpressions {
  /** The value of a field at a moment, for a row of its table, which the statement names without an alias. */
  cell(
    field: Field,
    over: { model: TableModel; models: ReachableModels; dialect: QueryDialect },
    at: FrozenAt,
  ): SQL
}

/**
 * Implemented by the hooks module: the statements that carry renamed options of a field, by their old titles, into the
 * conditions of the webhooks of its table. They fail if somebody has changed one of these webhooks meanwhile.
 */
export type HookChoices = (tableId: string, fieldId: string, titles: ChoiceTitles) => Promise<LateStatements>

/** Slots for the implementations of later modules, filled by app.ts. */
export const TABLE_VIEWS = defineSlot<TableViews>('schema.views')
export const HOOK_CHOICES = defineSlot<HookChoices>('schema.hookChoices')
export const FIELD_EXPRESSIONS = defineSlot<FieldExpressions>('schema.expressions')

/** Dependencies of the operations of this module. */
export interface SchemaContext {
  kernel: Kernel
  access: AuthService['access']
  bases: BasesService
  store: SchemaStore
  apply: ApplyChange
  /** Like `apply`, for changes that write whole tables. */
  applyScript: ApplyScript
  // Read from the registry at each use, because these services are created later.
  readonly views: TableViews
  readonly expressions: FieldExpressions
}

/**
 * Loads a table. Tables of a disabled source are not found, as if they were in the trash.
 *
 * @throws TABLE_NOT_FOUND
 */
export function loadShown(
  context: Pick<SchemaContext, 'store' | 'bases'>,
  tableId: string,
): Promise<TableModel> {
  // Almost every call is answered from here, and a request makes several.
  const known = context.store.peek(tableId)
  const isShown = known && context.bases.sources.peek(known.table.sourceId)?.isEnabled
  return isShown ? Promise.resolve(known) : readShown(context, tableId)
}

async function readShown(
  { store, bases }: Pick<SchemaContext, 'store' | 'bases'>,
  tableId: string,
): Promise<TableModel> {
  const model = await store.load(tableId)
  const source = await bases.sources.find(model.table.sourceId)
  if (source?.isEnabled === false) throw notFound('Table', tableId.slice(0, 64))
  return model
}

/**
 * Loads a table and checks that the actor holds the right in its base.
 *
 * @throws TABLE_NOT_FOUND before access is checked
 */
export async function openTable(
  { store, access, bases }: Pick<SchemaContext, 'store' | 'access' | 'bases'>,
  actor: Actor,
  right: BaseRight,
  tableId: string,
): Promise<TableModel> {
  const model = await loadShown({ store, bases }, tableId)
  await access.authorize(actor, right, model.table.baseId)
  return model
}

/**
 * Loads a live field and its table and checks that the actor holds the right.
 *
 * @throws FIELD_NOT_FOUND before access is checked; also for fields of a table in the trash
 */
export async function openField(
  context: Pick<SchemaContext, 'store' | 'access' | 'bases'>,
  actor: Actor,
  right: BaseRight,
  fieldId: string,
): Promise<{ model: TableModel; field: Field }> {
  const stored = await context.store.findField(fieldId)
  const table = stored && (await context.store.findTable(stored.tableId))
  if (!stored || stored.deletedAt !== null || !table || table.deletedAt !== null)
    throw notFound('Field', fieldId.slice(0, 64))
  const model = await openTable(context, actor, right, stored.tableId)
  const field = model.field(fieldId)
  if (!field) throw notFound('Field', fieldId.slice(0, 64))
  return { model, field }
}

/** Well below every engine's limit of bound parameters. */
const IDS_PER_STATEMENT = 500

/** The tables of a base and the fields of some of them, including the trash. */
export interface LogNames {
  tables: ReadonlyMap<string, Table>
  fields: ReadonlyMap<string, Field>
}

/** Reads the tables and fields that log entries name, in one statement per 500 tables. */
export async function readLogNames(
  kernel: Kernel,
  { tables, fields }: Pick<SchemaStore, 'tables' | 'fields'>,
  baseId: string,
  tableIds: readonly string[],
): Promise<LogNames> {
  const { db } = kernel.meta
  const all = (await db.select().from(tables).where(eq(tables.baseId, baseId))).map(toTable)
  const known = new Map(all.map((table) => [table.id, table]))
  const existing = [...new Set(tableIds)].filter((id) => known.has(id))
  const found: Field[] = []
  for (const ids of batches(existing, IDS_PER_STATEMENT)) {
    const rows = await db.select().from(fields).where(inArray(fields.tableId, ids))
    found.push(...rows.map(toField))
  }
  return { tables: known, fields: new Map(found.map((field) => [field.id, field])) }
}
