import { fieldType } from '../../../src/core/fields/index.ts'
import { type LinkOptions, linkOf } from '../../../src/core/fields/link-options.ts'
import { hasChoices, isForeignKey, isRecordId } from '../../../src/core/fields/traits.ts'
import type { Table, View, ViewField } from '../../../src/core/model.ts'
import { publicField, publicTable } from '../../../src/core/views/public-view.ts'
import { defineSlot, type Registry } from '../../../src/registry.ts'
import { wireTime } from '../../../src/wire/lists.ts'
import { choicesOf, namesOnly, narrowModel, type StoredField, type TableModel } from '../model/index.ts'
import type { SchemaReader } from '../reader.ts'
import { presentColumnType } from './wire-column-type.ts'
import { presentComputed, virtualName, type WireSurroundings } from './wire-computed.ts'
import { metaOf } from './wire-meta.ts'

/** A table in a list (wire reference §7). */
export const presentTable = (table: Table) => ({
  id: table.id,
  source_id: table.sourceId,
  base_id: table.baseId,
  table_name: table.tableName,
  title: table.title,
  type: table.kind,
  meta: Object.keys(table.meta).length === 0 ? null : table.meta,
  schema: null,
  enabled: true,
  mm: table.isJunction,
  tags: null,
  pinned: null,
  deleted: null,
  order: table.order,
  created_at: wireTime(table.createdAt),
  updated_at: wireTime(table.updatedAt),
  description: table.description,
  synced: false,
  created_by: null,
  owned_by: null,
  uuid: null,
  password: null,
  fk_custom_url_id: null,
})

/** A table fetched by its id: with its columns and views. */
function presentWholeTable(
  model: TableModel,
  views: View[],
  presentedViews: Record<string, unknown>[],
  around: WireSurroundings,
) {
  const lines = new Map(views.find((view) => view.isDefault)?.fields.map((line) => [line.fieldId, line]))
  const columns = model.stored.map((field) => presentColumn(model.table, field, around, lines.get(field.id)))
  return {
    ...presentTable(model.table),
    views: presentedViews,
    columns,
    columnsById: Object.fromEntries(columns.map((column) => [column.id, column])),
    columnsHash: hashOf(model),
  }
}

/** Changes whenever a column does: 40 hexadecimal characters. */
export function hashOf({ stored }: TableModel): string {
  return new Bun.CryptoHasher('sha1').update(JSON.stringify(stored)).digest('hex')
}

/**
 * A column with every key (wire reference §8.1).
 *
 * @param line what the default view says of it, for tables; a column fetched by itself has none
 */
export function presentColumn(
  { id, sourceId, baseId }: Table,
  field: StoredField,
  around: WireSurroundings,
  line?: ViewField,
) {
  const type = fieldType(field.type)
  const isVirtual = field.columnName === ''
  const columnType = isVirtual ? null : presentColumnType(field, around.client)
  const colOptions = presentComputed(field, baseId, around)
  const isKey = field.isPrimaryKey
  const meta = metaOf(field.type, field.options, field.wireMeta)
  const own = Object.keys(meta).length === 0 ? null : meta
  const place = line && { defaultViewColOrder: line.order, defaultViewColVisibility: line.show }
  return {
    id: field.id,
    source_id: sourceId,
    base_id: baseId,
    fk_model_id: id,
    title: field.title,
    column_name: isVirtual ? virtualName(field) : field.columnName,
    uidt: field.type,
    dt: columnType?.dt ?? null,
    np: null,
    ns: null,
    clen: null,
    cop: null,
    pk: isVirtual ? null : isKey,
    pv: field.isDisplay,
    rqd: isVirtual ? null : isKey || field.required,
    un: isVirtual ? null : isUnsigned(field),
    ct: null,
    ai: isVirtual ? null : isRecordId(field),
    unique: field.unique || null,
    cdf: columnType?.cdf ?? null,
    cc: null,
    csn: null,
    dtx: isVirtual || isForeignKey(field) ? null : 'specificType',
    dtxp: columnType?.dtxp ?? null,
    dtxs: columnType?.dtxs ?? null,
    au: null,
    validate: VALIDATORS[field.type] ?? null,
    virtual: type.computed === 'link' ? true : null,
    deleted: null,
    system: field.isSystem,
    order: field.order,
    created_at: wireTime(field.createdAt),
    updated_at: wireTime(field.updatedAt),
    meta: place ? { ...own, ...place } : own,
    description: field.description,
    readonly: field.readOnlyReason !== null,
    custom_index_name: null,
    ...(hasChoices(field) && { colOptions: { options: presentOptions(field, baseId) } }),
    ...(colOptions && { colOptions }),
  }
}

/** Keys of ours are never negative; of a column that is not ours its type says so. */
const isUnsigned = ({ databaseType, isPrimaryKey, type }: StoredField): boolean =>
  databaseType === null ? isPrimaryKey || isForeignKey({ type }) : /\bunsigned\b/i.test(databaseType)

const presentOptions = (field: StoredField, baseId: string) =>
  choicesOf(field).map(({ id, title, color }, index) => ({
    id,
    fk_column_id: field.id,
    title,
    color,
    order: index + 1,
    base_id: baseId,
  }))

const validator = (name: string): string =>
  JSON.stringify({ func: [name], args: [''], msg: [`Validation failed : ${name}`] })

const VALIDATORS: Partial<Record<string, string>> = {
  Currency: validator('isCurrency'),
  Email: validator('isEmail'),
  PhoneNumber: validator('isMobilePhone'),
  URL: validator('isURL'),
}

/** How views are sent to REST clients. */
export interface PresentedViews {
  /** As in lists of views: each view also names its table. */
  detailed: boolean
  /** Without what is for members only. */
  forVisitors?: boolean
}

/** The views of a table as REST clients know them, in their order. */
export type PresentTableViews = (
  model: TableModel,
  options: PresentedViews,
) => Promise<Record<string, unknown>[]>

/** A table is sent with its views, whose module comes after this one: app.ts fills this slot with its presenter. */
export const VIEW_PRESENTER = defineSlot<PresentTableViews>('schema.rest.views')

/**
 * A table as REST clients get it, with its columns and views.
 *
 * @param detailed as a table fetched by its id has them: each view then names its table too
 */
export async function presentFull(
  schema: SchemaReader,
  registry: Registry,
  tableId: string,
  { detailed = false, forVisitors = false }: Partial<PresentedViews> = {},
) {
  const model = await schema.load(tableId)
  const views = await schema.viewsOf(model)
  const presented = await registry.get(VIEW_PRESENTER)(model, { detailed, forVisitors })
  return presentWholeTable(model, views, presented, await surroundingsOf(schema, tableId))
}

/** What the columns of a table speak of: the record ids of tables linked with it, fields in formulas, its engine. */
export async function surroundingsOf(
  schema: Pick<SchemaReader, 'loadReachable' | 'load' | 'clientOf'>,
  tableId: string,
): Promise<WireSurroundings> {
  const reachable = await schema.loadReachable(tableId)
  const model = await schema.load(tableId)
  return {
    primaryKeyOf: (id) => reachable.get(id)?.primaryKey.id ?? null,
    fields: model.fields,
    client: await schema.clientOf(model),
  }
}

/**
 * A table as REST clients get it by a link to one of its views (wire reference §17): `model`, and by their ids
 * the tables of the links that it shows, of which there is the key and the name of their records and no more.
 */
export async function presentShared(
  schema: Pick<SchemaReader, 'load' | 'clientOf'>,
  whole: TableModel,
  view: View,
) {
  const client = await schema.clientOf(whole)
  const model = narrowModel(whole, view)
  const links = model.fields.flatMap((field) => (field.error === null && linkOf(field)) || [])
  const relatedMetas: Record<string, ReturnType<typeof presentNarrow>> = {}
  for (const { relatedTableId } of links) {
    const related = namesOnly(await schema.load(relatedTableId))
    const untitled = { ...related, table: { ...related.table, title: '', description: null } }
    relatedMetas[relatedTableId] = presentNarrow(untitled, null, client)
  }
  return { client, model: presentNarrow(model, view, client), relatedMetas }
}

/** @param view the one that shows the table; null for a table that is only linked */
function presentNarrow(model: TableModel, view: View | null, client: string) {
  const stored = model.stored.map((field) => ({
    ...field,
    ...publicField(field, view),
    columnName: field.columnName,
    wireMeta: null,
  }))
  const shown = { ...model, table: publicTable(model.table), stored }
  const around = { client, fields: [], primaryKeyOf: () => null }
  const {
    views: _,
    columnsById: __,
    columns,
    ...table
  } = presentWholeTable(shown, view ? [view] : [], [], around)
  const linked = new Map(model.fields.map((field) => [field.id, linkOf(field)]))
  const own = columns.map((column) => withTable(column, linked.get(column.id) ?? null))
  return {
    ...table,
    views: [],
    columns: own,
    columnsById: Object.fromEntries(own.map((one) => [one.id, one])),
  }
}

/** A link names its table by id: under that its key and name stand among the related tables. */
const withTable = <C extends { colOptions?: object }>(column: C, link: LinkOptions | null): C =>
  link === null
    ? column
    : { ...column, colOptions: { ...column.colOptions, fk_related_model_id: link.relatedTableId } }
