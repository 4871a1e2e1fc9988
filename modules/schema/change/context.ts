import { eq, inArray, type SQL } from 'drizzle-orm'
import type { Actor } from '../../../src/core/actor.ts'
import { notFound } from '../../../src/core/errors.ts'
import type { Field, Table, View } from '../../../src/core/model.ts'
import type { BaseRight } from '../../../src/core/roles.ts'
import type { MetaStatement } from '../../../src/db/meta.ts'
import type { QueryDialect } from '../../../src/dialects/dialect.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { defineSlot } from '../../../src/registry.ts'
import type { AuthService } from '../../auth/index.ts'
import type { BasesService } from '../../bases/index.ts'
import type { ReachableModels } from '../computed/index.ts'
import { type SchemaStore, type TableModel, toField, toTable } from '../model/index.ts'
import type { ApplyChange, ApplyScript } from './change.ts'

/** Where a new field goes in one view: ahead of another field, at a number, or (absent) at the end. */
export interface FieldPlace {
  viewId?: string
  beforeFieldId?: string
  order?: number
}

/** Views that go along with the copy of their table. */
export interface CopiedViews {
  /** Their ids, each of which gets a new one. */
  ids: string[]
  /** The statements that write them under their new ids, of tables and fields as well, for someone. */
  insert(ids: ReadonlyMap<string, string>, ownerId: string | null): MetaStatement[]
}

/**
 * What the views module adds to tables. Its statements join the metadata write of the table or field that they
 * belong to.
 */
export interface TableViews {
  ofTable(model: TableModel): Promise<View[]>
  forNewTable(table: Table, fields: Field[], actorId: string | null): MetaStatement[]
  /** @throws VIEW_NOT_FOUND, FIELD_NOT_FOUND for a place that is not in the table */
  forNewField(
    model: TableModel,
    field: Field,
    place: FieldPlace,
    actor: Actor | null,
  ): Promise<MetaStatement[]>
  /** For the other end of a new link, in the table that is linked. */
  forReverse(model: TableModel, field: Field): Promise<MetaStatement[]>
  /** For options of a select field that get other titles: what views say of them goes along. */
  forRenamedChoices(
    model: TableModel,
    fieldId: string,
    renamed: ReadonlyMap<string, string>,
  ): Promise<MetaStatement[]>
  /** The views of tables that are copied: all of them, or the default view of each. */
  forCopies(tableIds: readonly string[], all: boolean): Promise<CopiedViews>
  /** For tables that are forgotten for good, with all that is kept of them. */
  forRemovedTables(tableIds: string[]): MetaStatement[]
}

/** What the records module adds to fields: the SQL of computed ones. */
export interface FieldExpressions {
  /** The value of a field over a row of its table, under the table's own name. */
  cell(field: Field, over: { model: TableModel; models: ReachableModels; dialect: QueryDialect }): SQL
}

/** Views and records come after this module; app.ts fills these slots with what they implement. */
export const TABLE_VIEWS = defineSlot<TableViews>('schema.views')
export const FIELD_EXPRESSIONS = defineSlot<FieldExpressions>('schema.expressions')

/** What the operations of this module share. */
export interface SchemaContext {
  kernel: Kernel
  access: AuthService['access']
  bases: BasesService
  store: SchemaStore
  apply: ApplyChange
  /** As `apply`, for changes that write whole tables. */
  applyScript: ApplyScript
  /** From the registry at each use: not there yet while services are being built. */
  readonly views: TableViews
  /** As `views`. */
  readonly expressions: FieldExpressions
}

/** Id of the person who acts, for `created_by` and the log. */
export const actorIdOf = (actor: Actor): string | null => (actor.kind === 'user' ? actor.id : null)

/**
 * The table of an id. One of a source that is switched off is out of reach, as if it were in the trash: only the source
 * itself can be managed until it is switched on again.
 *
 * @throws TABLE_NOT_FOUND
 */
export async function loadShown(
  { store, bases }: Pick<SchemaContext, 'store' | 'bases'>,
  tableId: string,
): Promise<TableModel> {
  const model = await store.load(tableId)
  const source = await bases.sources.find(model.table.sourceId)
  if (source?.isEnabled === false) throw notFound('Table', tableId.slice(0, 64))
  return model
}

/**
 * The table of an id, for someone who holds the right in its base.
 *
 * @throws TABLE_NOT_FOUND before any refusal of access
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
 * A live field and its table, for someone who holds the right.
 *
 * @throws FIELD_NOT_FOUND before any refusal of access; also for fields of a table in the trash
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

/** Ids in one list: well within what every engine binds. */
const IDS_AT_ONCE = 500

/** The tables of a base and the fields of some of them, those in the trash included: the log speaks of both. */
export interface LogNames {
  tables: ReadonlyMap<string, Table>
  fields: ReadonlyMap<string, Field>
}

/** Reads what the entries of a base's log name, in a few statements whatever their number. */
export async function readLogNames(
  kernel: Kernel,
  { tables, fields }: Pick<SchemaStore, 'tables' | 'fields'>,
  baseId: string,
  tableIds: readonly string[],
): Promise<LogNames> {
  const { db } = kernel.meta
  const all = (await db.select().from(tables).where(eq(tables.baseId, baseId))).map(toTable)
  const known = new Map(all.map((table) => [table.id, table]))
  const wanted = [...new Set(tableIds)].filter((id) => known.has(id))
  const found: Field[] = []
  for (let from = 0; from < wanted.length; from += IDS_AT_ONCE) {
    const rows = await db
      .select()
      .from(fields)
      .where(inArray(fields.tableId, wanted.slice(from, from + IDS_AT_ONCE)))
    found.push(...rows.map(toField))
  }
  return { tables: known, fields: new Map(found.map((field) => [field.id, field])) }
}
