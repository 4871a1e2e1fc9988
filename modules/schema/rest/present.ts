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
import { presentComputed, virtualName, type WireContext } from './wire-computed.ts'
import { metaOf } from './wire-meta.ts'

/** A table in a list (wire §7). */
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

/** A table with its columns and views. */
function presentWithColumns(
  model: TableModel,
  views: View[],
  presentedViews: Record<string, unknown>[],
  context: WireContext,
) {
  const viewFields = new Map(
    views.find((view) => view.isDefault)?.fields.map((viewField) => [viewField.fieldId, viewField]),
  )
  const columns = model.stored.map((field) =>
    presentColumn(model.table, field, context, viewFields.get(field.id)),
  )
  return {
    ...presentTable(model.table),
    views: presentedViews,
    columns,
    columnsById: Object.fromEntries(columns.map((column) => [column.id, column])),
    columnsHash: hashOf(model),
  }
}

/** A hash of all columns: 40 hexadecimal characters. */
export function hashOf({ stored }: TableModel): string {
  return new Bun.CryptoHasher('sha1').update(JSON.stringify(stored)).digest('hex')
}

/**
 * A column (wire §8.1).
 *
 * @param viewField its position and visibility in the default view; only in responses with a whole table
 */
export function presentColumn(
  { id, sourceId, baseId }: Table,
  field: StoredField,
  context: WireContext,
  viewField?: ViewField,
) {
  const type = fieldType(field.type)
  const isVirtual = field.columnName === ''
  const columnType = isVirtual ? null : presentColumnType(field, context.client)
  const colOptions = presentComputed(field, baseId, context)
  const isKey = field.isPrimaryKey
  const fieldMeta = metaOf(field.type, field.options, field.wireMeta)
  const viewMeta = viewField && {
    defaultViewColOrder: viewField.order,
    defaultViewColVisibility: viewField.show,
  }
  const meta = { ...fieldMeta, ...viewMeta }
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
    meta: Object.keys(meta).length === 0 ? null : meta,
    description: field.description,
    readonly: field.readOnlyReason !== null,
    custom_index_name: null,
    ...(hasChoices(field) && { colOptions: { options: presentOptions(field, baseId) } }),
    ...(colOptions && { colOptions }),
  }
}

/** Record ids and foreign keys are never negative; for a connected database the column type decides. */
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

interface PresentedViews {
  /** Each view also names its table, as in lists of views. */
  detailed: boolean
  /** Omits properties that only members may see. */
  forVisitors?: boolean
}

/** Presents the views of a table in their order. */
export type PresentTableViews = (
  model: TableModel,
  options: PresentedViews,
) => Promise<Record<string, unknown>[]>

/** Slot for the presenter of the views module, which comes after this one; app.ts fills it. */
export const VIEW_PRESENTER = defineSlot<PresentTableViews>('schema.rest.views')

/** A table with its columns and views. */
export async function presentFull(
  schema: SchemaReader,
  registry: Registry,
  tableId: string,
  { detailed = false, forVisitors = false }: Partial<PresentedViews> = {},
) {
  const model = await schema.load(tableId)
  const views = await schema.viewsOf(model)
  const presented = await registry.get(VIEW_PRESENTER)(model, { detailed, forVisitors })
  return presentWithColumns(model, views, presented, await wireContextOf(schema, tableId))
}

/** The context for presenting the columns of a table. */
export async function wireContextOf(
  schema: Pick<SchemaReader, 'loadReachable' | 'load' | 'clientOf'>,
  tableId: string,
): Promise<WireContext> {
  const reachable = await schema.loadReachable(tableId)
  const model = await schema.load(tableId)
  return {
    primaryKeyOf: (id) => reachable.get(id)?.primaryKey.id ?? null,
    fields: model.fields,
    client: await schema.clientOf(model),
  }
}

/**
 * A table for visitors of a view's public link (wire §17): `model`, and in `relatedMetas` the tables of its
 * links by id, with only their key and display field.
 */
export async function presentShared(
  schema: Pick<SchemaReader, 'load' | 'clientOf'>,
  fullModel: TableModel,
  view: View,
) {
  const client = await schema.clientOf(fullModel)
  const model = narrowModel(fullModel, view)
  const links = model.fields.flatMap((field) => (field.error === null && linkOf(field)) || [])
  const relatedMetas: Record<string, ReturnType<typeof presentNarrow>> = {}
  for (const { relatedTableId } of links) {
    const related = namesOnly(await schema.load(relatedTableId))
    const untitled = { ...related, table: { ...related.table, title: '', description: null } }
    relatedMetas[relatedTableId] = presentNarrow(untitled, null, client)
  }
  return { client, model: presentNarrow(model, view, client), relatedMetas }
}

/** @param view the shared view; null for a linked table */
function presentNarrow(model: TableModel, view: View | null, client: string) {
  const stored = model.stored.map((field) => ({
    ...field,
    ...publicField(field, view),
    columnName: field.columnName,
    wireMeta: null,
  }))
  const shown = { ...model, table: publicTable(model.table), stored }
  const context = { client, fields: [], primaryKeyOf: () => null }
  const {
    views: _,
    columnsById: __,
    columns,
    ...table
  } = presentWithColumns(shown, view ? [view] : [], [], context)
  const links = new Map(model.fields.map((field) => [field.id, linkOf(field)]))
  const linkedColumns = columns.map((column) => withRelatedTable(column, links.get(column.id) ?? null))
  return {
    ...table,
    views: [],
    columns: linkedColumns,
    columnsById: Object.fromEntries(linkedColumns.map((column) => [column.id, column])),
  }
}

/** Adds the id of the related table, which `relatedMetas` is keyed by. */
const withRelatedTable = <C extends { colOptions?: object }>(column: C, link: LinkOptions | null): C =>
  link === null
    ? column
    : { ...column, colOptions: { ...column.colOptions, fk_related_model_id: link.relatedTableId } }
